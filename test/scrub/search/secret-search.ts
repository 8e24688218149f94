import { createHash } from "node:crypto";
import { type Needle, Needles } from "./needles.ts";
import { unwrap } from "./unwrap.ts";

/** Where a piece of a secret was found. */
export interface Finding {
  readonly needle: string;
  readonly window: string;
  /** What was searched, and how the piece was wrapped up in it, outermost first: `event_segments.data > zstd > base64`. */
  readonly where: string;
}

// JSON in base64 in a URL in a protobuf message in a zstd frame, and some more.
const depthMax = 8;
// A zstd frame can hold what another holds; the same bytes are looked at once for each place.
const seenMax = 500_000;

/**
 * Looks for pieces of secrets in whatever it is given, through any nesting of zstd, gzip, base64, hex, percent codes and
 * escapes. Keeps the first finding of each secret in each place.
 */
export class SecretSearch {
  private readonly needles: Needles;
  private readonly findings = new Map<string, Finding>();
  private readonly seen = new Set<string>();
  /** What was searched, with everything unwrapped from it. */
  bytes = 0;
  /** Four bytes that look like the beginning of a zstd frame, with none behind them. */
  unreadableFrames = 0;

  constructor(needles: readonly Needle[]) {
    this.needles = new Needles(needles);
  }

  /** Searches the bytes of one place; the same bytes may come many times. */
  look(place: string, bytes: Uint8Array | string): void {
    this.lookInto(place, {
      bytes: typeof bytes === "string" ? Buffer.from(bytes) : bytes,
      where: place,
      depth: 0,
    });
  }

  found(): readonly Finding[] {
    return [...this.findings.values()];
  }

  /** Names of the secrets that were found in places that begin with `place`. */
  foundIn(place: string): Set<string> {
    return new Set(
      this.found()
        .filter(({ where }) => where.startsWith(place))
        .map(({ needle }) => needle),
    );
  }

  private lookInto(place: string, layer: { bytes: Uint8Array; where: string; depth: number }): void {
    const { bytes, where, depth } = layer;
    if (bytes.length < 8 || depth > depthMax || this.wasSeen(place, bytes)) return;
    this.bytes += bytes.length;
    for (const { needle, window } of this.needles.find(bytes)) {
      const key = `${needle} ${place}`;
      if (!this.findings.has(key)) this.findings.set(key, { needle, window, where });
    }
    const { layers, unreadableFrames } = unwrap(bytes);
    this.unreadableFrames += unreadableFrames;
    for (const inner of layers) {
      this.lookInto(place, { bytes: inner.bytes, where: `${where} > ${inner.how}`, depth: depth + 1 });
    }
  }

  private wasSeen(place: string, bytes: Uint8Array): boolean {
    const digest = createHash("sha1").update(place).update(bytes).digest("base64");
    if (this.seen.has(digest)) return true;
    if (this.seen.size < seenMax) this.seen.add(digest);
    return false;
  }
}
