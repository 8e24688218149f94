import path from "node:path";
import type { build_event_stream } from "@millrace/proto/gen/bep";
import protobuf from "protobufjs";

/**
 * The independent decoder: protobufjs reflection over the `.proto` files, sharing nothing with the readers, the peek and
 * the generated code of packages/proto. Slow and complete; what it says is what tests hold the system to.
 */

/** A BEP event. As in the schema, but console output is bytes, because builds print what they like. */
export type BepEvent = Omit<build_event_stream.BuildEvent.$Properties, "progress"> & {
  readonly payload?: string;
  readonly progress?: { readonly stdout: ArrayLike<number>; readonly stderr: ArrayLike<number> } | null;
};

/** One request of a stream. */
export interface StreamRequest {
  readonly sequence: number;
  readonly buildId: string;
  readonly invocationId: string;
  readonly projectId: string;
  readonly keywords: readonly string[];
  /** The google.devtools.build.v1.BuildEvent as it was sent. */
  readonly event: Uint8Array;
}

/** What a google.devtools.build.v1.BuildEvent holds. `undecodable`: an Any that is not BEP we can decode. */
export type EventContent =
  | { readonly kind: "bazel"; readonly timeMs: number; readonly bep: BepEvent; readonly payload: Uint8Array }
  | { readonly kind: "stream-finished"; readonly timeMs: number }
  | { readonly kind: "undecodable"; readonly timeMs: number }
  | { readonly kind: "other"; readonly timeMs: number };

const protoDir = path.resolve(import.meta.dirname, "../../packages/proto/proto");

// 64-bit fields as numbers; see packages/proto/src/protobuf-numbers.js.
(protobuf.util as { Long: unknown }).Long = null;
protobuf.configure();

const besFile = "google/devtools/build/v1/publish_build_event.proto";
const bes = load(besFile).lookup("google.devtools.build.v1") as protobuf.Namespace;
const content = bes.lookupType("BuildEvent");

// The same schema with the event left as bytes: what was sent must come out again byte for byte.
const framing = load(besFile, { "google.devtools.build.v1.OrderedBuildEvent": ["event"] });
const request = framing.lookupType("google.devtools.build.v1.PublishBuildToolEventStreamRequest");

const bep = load("build_event_stream.proto", { "build_event_stream.Progress": ["stdout", "stderr"] });
const buildEvent = bep.lookupType("build_event_stream.BuildEvent");

/** Loads a file; the named fields are taken as bytes, which have the same form on the wire. */
function load(file: string, asBytes: Readonly<Record<string, readonly string[]>> = {}): protobuf.Root {
  const root = new protobuf.Root();
  root.resolvePath = (_origin, target) =>
    path.join(protoDir, target === "failure_details.proto" ? "full" : "", target);
  root.loadSync(file);
  for (const [typeName, fields] of Object.entries(asBytes)) {
    const type = root.lookupType(typeName);
    for (const name of fields) {
      const field = type.get(name);
      if (!(field instanceof protobuf.Field)) throw new Error(`no field ${name} in ${typeName}`);
      type.remove(field);
      type.add(new protobuf.Field(name, field.id, "bytes"));
    }
  }
  root.resolveAll();
  return root;
}

/** Names of an enum's numbers; the first where several share one. */
export function enumNames(type: string): ReadonlyMap<number, string> {
  return new Map(Object.entries(bep.lookupEnum(type).valuesById).map(([id, name]) => [Number(id), name]));
}

/** Decodes a PublishBuildToolEventStreamRequest. Throws when it is malformed. */
export function decodeRequest(bytes: Uint8Array): StreamRequest {
  const decoded = request.toObject(request.decode(bytes), { defaults: true });
  const ordered = decoded.orderedBuildEvent ?? {};
  return {
    sequence: ordered.sequenceNumber ?? 0,
    buildId: ordered.streamId?.buildId ?? "",
    invocationId: ordered.streamId?.invocationId ?? "",
    projectId: decoded.projectId,
    keywords: decoded.notificationKeywords,
    event: ordered.event ?? new Uint8Array(0),
  };
}

/** The same request for another stream: ids and place replaced, the event untouched. */
export function encodeRequest(from: StreamRequest): Buffer {
  const message = {
    orderedBuildEvent: {
      streamId: { buildId: from.buildId, invocationId: from.invocationId, component: 3 },
      sequenceNumber: from.sequence,
      event: from.event,
    },
    notificationKeywords: from.keywords,
    projectId: from.projectId,
  };
  return Buffer.from(request.encode(message).finish());
}

/** Decodes a google.devtools.build.v1.BuildEvent. Throws when its outside is malformed. */
export function decodeEvent(bytes: Uint8Array): EventContent {
  const decoded = content.toObject(content.decode(bytes), { oneofs: true });
  const { seconds = 0, nanos = 0 } = decoded.eventTime ?? {};
  const timeMs = seconds * 1000 + Math.floor(nanos / 1e6);
  if (decoded.event === "componentStreamFinished") return { kind: "stream-finished", timeMs };
  if (decoded.event !== "bazelEvent") return { kind: "other", timeMs };
  const any = decoded.bazelEvent;
  if (!/\/build_event_stream\.BuildEvent$/.test(any.type_url ?? "")) return { kind: "undecodable", timeMs };
  const payload: Uint8Array = any.value ?? new Uint8Array(0);
  const bep = decodeBep(payload);
  return bep === undefined ? { kind: "undecodable", timeMs } : { kind: "bazel", timeMs, bep, payload };
}

/** Decodes a BEP payload; undefined when it is malformed or holds text that is not UTF-8. */
export function decodeBep(payload: Uint8Array): BepEvent | undefined {
  try {
    return buildEvent.decode(payload) as unknown as BepEvent;
  } catch {
    return undefined;
  }
}
