import { FieldScanner, type Malformed, wireBytes } from "../wire/field-scanner.ts";

/**
 * What the front door must know of one `PublishBuildToolEventStreamRequest`, as ranges of bytes: nothing of the BEP
 * inside is decoded. Ranges refer to `bytes`, which is the given array unless the sender had split a sub-message.
 * An absent sub-message is an empty range.
 */
export interface PeekedRequest {
  readonly kind: "request";
  readonly bytes: Uint8Array;
  /** As received: 0 when absent, possibly negative. Exact to 2^53. */
  readonly sequence: number;
  readonly streamIdStart: number;
  readonly streamIdEnd: number;
  /** The google.devtools.build.v1.BuildEvent: event time and one payload. */
  readonly eventStart: number;
  readonly eventEnd: number;
  readonly holds: EventContent;
}

/** `bazel`: an Any that should be BEP · `stream-finished`: the end of the stream · `other`: any other payload. */
export type EventContent = "bazel" | "stream-finished" | "other" | "none";

// google/devtools/build/v1/publish_build_event.proto
const orderedBuildEventField = 4;
const streamIdField = 1;
const sequenceField = 2;
const eventField = 3;
const streamFinishedField = 59;
const bazelEventField = 60;
const otherContentFields = [51, 52, 53, 55, 56, 61, 62];

// Scanning is synchronous and calls nobody, so one set of scanners serves all streams of a thread.
const requestScanner = new FieldScanner();
const orderedScanner = new FieldScanner();
const eventScanner = new FieldScanner();

/** Reads the place of an event and where it lies. Never throws, never reads outside `bytes`. */
export function peekRequest(bytes: Uint8Array): PeekedRequest | Malformed {
  const peeked = peekWhole(bytes);
  requestScanner.release();
  orderedScanner.release();
  eventScanner.release();
  return peeked;
}

function peekWhole(bytes: Uint8Array): PeekedRequest | Malformed {
  let start = 0;
  let end = 0;
  let parts = 0;
  const scanner = requestScanner.reset(bytes, 0, bytes.length);
  while (scanner.next()) {
    if (!scanner.isBytes(orderedBuildEventField)) continue;
    start = scanner.from;
    end = scanner.to;
    parts += 1;
  }
  if (scanner.reason !== "") return faultOf(scanner);
  if (parts > 1) return peekJoined({ bytes, field: orderedBuildEventField, from: 0, to: bytes.length });
  return peekOrdered(bytes, start, end);
}

function peekOrdered(bytes: Uint8Array, from: number, to: number): PeekedRequest | Malformed {
  let sequence = 0;
  let streamIdStart = from;
  let streamIdEnd = from;
  let eventStart = from;
  let eventEnd = from;
  let streamIdParts = 0;
  let eventParts = 0;
  const scanner = orderedScanner.reset(bytes, from, to);
  while (scanner.next()) {
    if (scanner.isVarint(sequenceField)) sequence = scanner.int64;
    else if (scanner.isBytes(eventField)) {
      eventStart = scanner.from;
      eventEnd = scanner.to;
      eventParts += 1;
    } else if (scanner.isBytes(streamIdField)) {
      streamIdStart = scanner.from;
      streamIdEnd = scanner.to;
      streamIdParts += 1;
    }
  }
  if (scanner.reason !== "") return faultOf(scanner);
  if (streamIdParts > 1 || eventParts > 1) return peekRearranged({ bytes, from, to, sequence });
  const holds = contentOf(bytes, eventStart, eventEnd);
  if (typeof holds !== "string") return holds;
  return { kind: "request", bytes, sequence, streamIdStart, streamIdEnd, eventStart, eventEnd, holds };
}

/** The last member of the oneof wins. Ids of the payload inside are not looked at. */
function contentOf(bytes: Uint8Array, from: number, to: number): EventContent | Malformed {
  let holds: EventContent = "none";
  const scanner = eventScanner.reset(bytes, from, to);
  while (scanner.next()) {
    if (scanner.wireType !== wireBytes) continue;
    if (scanner.field === bazelEventField) holds = "bazel";
    else if (scanner.field === streamFinishedField) holds = "stream-finished";
    else if (otherContentFields.includes(scanner.field)) holds = "other";
  }
  return scanner.reason === "" ? holds : faultOf(scanner);
}

interface Parts {
  readonly bytes: Uint8Array;
  readonly field: number;
  readonly from: number;
  readonly to: number;
}

/**
 * A sub-message sent in several parts is, by the specification of the wire format, the concatenation of the parts.
 * No known client does this, so the copy does not matter.
 */
function joinParts({ bytes, field, from, to }: Parts): Uint8Array {
  const parts: Uint8Array[] = [];
  const scanner = new FieldScanner().reset(bytes, from, to);
  while (scanner.next()) if (scanner.isBytes(field)) parts.push(bytes.subarray(scanner.from, scanner.to));
  return Buffer.concat(parts);
}

function peekJoined(parts: Parts): PeekedRequest | Malformed {
  const joined = joinParts(parts);
  return peekOrdered(joined, 0, joined.length);
}

function peekRearranged(at: { bytes: Uint8Array; from: number; to: number; sequence: number }) {
  const streamId = joinParts({ ...at, field: streamIdField });
  const event = joinParts({ ...at, field: eventField });
  const bytes = Buffer.concat([streamId, event]);
  const holds = contentOf(bytes, streamId.length, bytes.length);
  if (typeof holds !== "string") return holds;
  return {
    kind: "request",
    bytes,
    sequence: at.sequence,
    streamIdStart: 0,
    streamIdEnd: streamId.length,
    eventStart: streamId.length,
    eventEnd: bytes.length,
    holds,
  } satisfies PeekedRequest;
}

function faultOf(scanner: FieldScanner): Malformed {
  return scanner.malformed ?? { kind: "malformed", offset: 0, reason: "no fault" };
}
