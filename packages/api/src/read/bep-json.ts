import descriptor from "@millrace/proto/bep-descriptor.json" with { type: "json" };
import "@millrace/proto/protobuf-numbers";
import { readEnvelope } from "@millrace/proto/bep/envelope";
import { idName, payloadName, readKind } from "@millrace/proto/bep/kind";
import protobuf from "protobufjs/light.js";
import type { StoredEvent } from "./events.ts";

/** An event as a person or a script reads it. */
export interface ReadableEvent {
  readonly sequence: number;
  /** When Bazel made it; null when it did not say. */
  readonly time: string | null;
  /** `bazel`, `stream-finished`, `other` or `malformed`. */
  readonly kind: "bazel" | "stream-finished" | "other" | "malformed";
  /** Name of the BEP payload and of its id, such as `completed` and `targetCompleted`. */
  readonly payload: string | null;
  readonly id: string | null;
  readonly bytes: number;
  /** The BEP event; null when it is none, cannot be decoded or is too large to show. */
  readonly event: unknown;
  /** The stored `google.devtools.build.v1.BuildEvent`; null when it is too large to show. */
  readonly base64: string | null;
}

/** Larger events are listed without their content; the download has it. */
export const shownBytesMax = 256 * 1024;

const root = protobuf.Root.fromJSON(descriptor as protobuf.INamespace).resolveAll();
const buildEvent = root.lookupType("build_event_stream.BuildEvent");

export function readableEvent(event: StoredEvent): ReadableEvent {
  const envelope = readEnvelope(event.bytes);
  const shown = event.bytes.length <= shownBytesMax;
  const base = {
    sequence: event.sequence,
    bytes: event.bytes.length,
    base64: shown ? Buffer.from(event.bytes).toString("base64") : null,
  };
  const nothing = { ...base, time: null, payload: null, id: null, event: null };
  if (envelope.kind === "malformed") return { ...nothing, kind: "malformed" };
  const time = envelope.eventTimeMs === undefined ? null : new Date(envelope.eventTimeMs).toISOString();
  if (envelope.kind !== "bazel" || !envelope.typeUrlOk) {
    return { ...nothing, time, kind: envelope.kind === "bazel" ? "other" : envelope.kind };
  }
  const { payloadStart: from, payloadEnd: to } = envelope;
  const kind = readKind({ bytes: envelope.bytes, from, to });
  const known = kind.kind === "malformed" ? undefined : kind;
  return {
    ...base,
    time,
    kind: "bazel",
    payload: known === undefined ? null : payloadName(known.payload),
    id: known === undefined ? null : idName(known.id),
    event: shown ? bepJson(envelope.bytes.subarray(from, to)) : null,
  };
}

/** Null when the bytes are no BEP event. Enum names, base64 bytes, numbers exact to 2^53. */
function bepJson(bytes: Uint8Array): unknown {
  return messageJson(buildEvent, bytes);
}

/** Messages that rows keep as Bazel sent them. */
export type KeptMessage =
  | "BuildMetrics"
  | "BuildToolLogs"
  | "ConvenienceSymlinksIdentified"
  | "ExecRequestConstructed";

/** The same for a message that a row keeps; null also when there is none. */
export function keptJson(type: KeptMessage, bytes: Uint8Array | null): unknown {
  return bytes === null ? null : messageJson(root.lookupType(`build_event_stream.${type}`), bytes);
}

function messageJson(type: protobuf.Type, bytes: Uint8Array): unknown {
  try {
    return type.toObject(type.decode(bytes), { enums: String, longs: Number, bytes: String });
  } catch {
    // The bytes are stored and shown as they are: what cannot be decoded is no error of the reader's.
    return null;
  }
}
