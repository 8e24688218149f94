import { FieldScanner, type Malformed, wireBytes } from "../wire/field-scanner.ts";
import { TimeParts } from "./time-parts.ts";

/**
 * The outside of one `google.devtools.build.v1.BuildEvent`: when it happened, what is in it, and where the BEP payload
 * lies. `other` is any content that is neither BEP nor the end of the stream, and no content at all.
 */
export interface Envelope {
  readonly kind: "bazel" | "stream-finished" | "other";
  /** Milliseconds since the epoch; undefined when the sender gave no time. */
  readonly eventTimeMs: number | undefined;
  /** Whether the Any says it holds a build_event_stream.BuildEvent. If not, the payload is someone else's. */
  readonly typeUrlOk: boolean;
  readonly bytes: Uint8Array;
  readonly payloadStart: number;
  readonly payloadEnd: number;
}

// google/devtools/build/v1/publish_build_event.proto and google/protobuf/any.proto
const eventTimeField = 1;
const streamFinishedField = 59;
const bazelEventField = 60;
const otherContentFields = [51, 52, 53, 55, 56, 61, 62];
const typeUrlField = 1;
const valueField = 2;

// Any server may stand before the slash; the name after it decides.
const bepTypeName = Buffer.from("/build_event_stream.BuildEvent");

/** Reads the outside of an event. Never throws; the payload itself is not looked at. */
export function readEnvelope(buildEvent: Uint8Array): Envelope | Malformed {
  const time = new TimeParts();
  let kind: Envelope["kind"] = "other";
  let typeUrlOk = false;
  let payloadStart = 0;
  let payloadEnd = 0;
  const scanner = new FieldScanner().reset(buildEvent, 0, buildEvent.length);
  while (scanner.next()) {
    if (scanner.wireType !== wireBytes) continue;
    if (scanner.field === eventTimeField) {
      time.read(scanner);
      continue;
    }
    const content = contentOf(scanner.field);
    if (content === undefined) continue;
    if (content !== "bazel" || kind !== "bazel") {
      // Another member of the oneof drops what an earlier one held.
      typeUrlOk = false;
      payloadStart = 0;
      payloadEnd = 0;
    }
    kind = content;
    if (kind !== "bazel") continue;
    const any = scanner.child();
    while (any.next()) {
      if (any.isBytes(typeUrlField)) typeUrlOk = endsWith(any, bepTypeName);
      else if (any.isBytes(valueField)) {
        payloadStart = any.from;
        payloadEnd = any.to;
      }
    }
  }
  if (scanner.malformed) return scanner.malformed;
  return { kind, eventTimeMs: time.timestampMs, typeUrlOk, bytes: buildEvent, payloadStart, payloadEnd };
}

/** What an event holds that is not ours to read, in words: the type of its Any, or the number of its content. */
export function foreignContent(buildEvent: Uint8Array): string {
  let what = "no content";
  const scanner = new FieldScanner().reset(buildEvent, 0, buildEvent.length);
  while (scanner.next()) {
    if (scanner.wireType !== wireBytes || scanner.field === eventTimeField) continue;
    what = `content ${scanner.field}`;
    if (scanner.field !== bazelEventField) continue;
    const any = scanner.child();
    while (any.next()) if (any.isBytes(typeUrlField)) what = `type ${any.text.slice(0, typeCharsMax)}`;
  }
  return what;
}

const typeCharsMax = 200;

function contentOf(field: number): Envelope["kind"] | undefined {
  if (field === bazelEventField) return "bazel";
  if (field === streamFinishedField) return "stream-finished";
  return otherContentFields.includes(field) ? "other" : undefined;
}

function endsWith(scanner: FieldScanner, suffix: Uint8Array): boolean {
  const start = scanner.to - suffix.length;
  if (start < scanner.from) return false;
  for (let index = 0; index < suffix.length; index += 1) {
    if (scanner.bytes[start + index] !== suffix[index]) return false;
  }
  return true;
}
