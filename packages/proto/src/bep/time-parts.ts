import type { FieldScanner } from "../wire/field-scanner.ts";

// google.protobuf.Timestamp and google.protobuf.Duration have the same fields.
const secondsField = 1;
const nanosField = 2;

/** A Timestamp or Duration as it is gathered from its fields. Milliseconds are rounded down. */
export class TimeParts {
  private present = false;
  private seconds = 0;
  private nanos = 0;

  /** Reads the sub-message at hand of `outer`. */
  read(outer: FieldScanner): void {
    this.present = true;
    const scanner = outer.child();
    while (scanner.next()) {
      if (scanner.isVarint(secondsField)) this.seconds = scanner.int64;
      else if (scanner.isVarint(nanosField)) this.nanos = scanner.int32;
    }
  }

  /** Milliseconds (since the epoch, or of the duration); undefined when the field is absent. */
  get timestampMs(): number | undefined {
    return this.present ? this.seconds * 1000 + Math.floor(this.nanos / 1_000_000) : undefined;
  }

  /** The same, with the older field in milliseconds as the second choice. Old Bazels write 0 for "not known". */
  orMillis(millis: number): number | undefined {
    return this.timestampMs ?? (millis === 0 ? undefined : millis);
  }
}
