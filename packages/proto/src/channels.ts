import { millrace } from "./gen/pipeline.js";
import { invocationToken } from "./tokens.ts";

/**
 * The one list of channels. A process publishes or subscribes only through a channel declared here, so this
 * file is the whole of what Millrace says on NATS. Losing a message of each means what its comment says.
 */

/** How a message becomes bytes and back. `decode` throws on bytes that are not such a message. */
export interface Codec<T> {
  encode(message: T): Uint8Array;
  decode(bytes: Uint8Array): T;
}

/** Ask and be answered; asked again when no answer comes. */
export interface RequestChannel<Q, A> {
  readonly kind: "request";
  readonly name: string;
  readonly request: Codec<Q>;
  readonly reply: Codec<A>;
}

/** Say and forget. */
export interface PublishChannel<T> {
  readonly kind: "publish";
  readonly name: string;
  readonly message: Codec<T>;
}

export type pipeline = typeof millrace.pipeline;
const p = millrace.pipeline;

interface Static<I, O> {
  encode(message: I): { finish(): Uint8Array };
  decode(bytes: Uint8Array): O;
}

function codec<I, O extends I>(type: Static<I, O>): Codec<I> {
  return { encode: (message) => type.encode(message).finish(), decode: (bytes) => type.decode(bytes) };
}

/** Actor → writer. Takes an attempt over, or says that its connection closed. Lost: asked again. */
export const openChannel: RequestChannel<millrace.pipeline.IOpenRequest, millrace.pipeline.IOpenReply> = {
  kind: "request",
  name: "open",
  request: codec(p.OpenRequest),
  reply: codec(p.OpenReply),
};

/** Actor → writer. A sealed batch. Lost: sent again; the fence makes that harmless. */
export const batchChannel: RequestChannel<millrace.pipeline.IBatchRequest, millrace.pipeline.IBatchReply> = {
  kind: "request",
  name: "batches",
  request: codec(p.BatchRequest),
  reply: codec(p.BatchReply),
};

/**
 * Front door → any writer: what lifecycle calls of many builds said. Lost: the calls return OK after 2 s and are
 * counted; the streams alone suffice.
 */
export const lifecycleChannel: RequestChannel<
  millrace.pipeline.ILifecycleRequest,
  millrace.pipeline.ILifecycleReply
> = {
  kind: "request",
  name: "lifecycle",
  request: codec(p.LifecycleRequest),
  reply: codec(p.LifecycleReply),
};

/** Front door → writer. Lost: asked again. */
export const keyLookupChannel: RequestChannel<
  millrace.pipeline.IKeyLookupRequest,
  millrace.pipeline.IKeyLookupReply
> = {
  kind: "request",
  name: "keys.lookup",
  request: codec(p.KeyLookupRequest),
  reply: codec(p.KeyLookupReply),
};

/** Front door → writer. Lost: renewed 10 s later; a lease outlives three renewals. */
export const leaseChannel: RequestChannel<millrace.pipeline.ILeaseRequest, millrace.pipeline.ILeaseReply> = {
  kind: "request",
  name: "nodes.lease",
  request: codec(p.LeaseRequest),
  reply: codec(p.LeaseReply),
};

/** Writer → writers. Lost: the next one comes 500 ms later. */
export const heartbeatChannel: PublishChannel<millrace.pipeline.IWriterHeartbeat> = {
  kind: "publish",
  name: "writers.heartbeat",
  message: codec(p.WriterHeartbeat),
};

/** Actor → API. Digests of committed state. Lost: the next server-sent heartbeat carries the row's state. */
export const liveChannel: PublishChannel<millrace.pipeline.ILiveDigest> = {
  kind: "publish",
  name: "live",
  message: codec(p.LiveDigest),
};

/** Writer → internal tools: CloudEvents in JetStream, from the outbox, at least once. */
export const eventsChannel = {
  kind: "stream",
  name: "events",
  stream: "MILLRACE_EVENTS",
  /** Everything the stream captures. */
  captures: ["events.>"],
} as const;

/** The same facts for who only listens at the moment. Lost: not seen; JetStream still has it. */
export const factChannel: PublishChannel<unknown> = {
  kind: "publish",
  name: eventsChannel.name,
  message: {
    encode: (fact) => Buffer.from(JSON.stringify(fact)),
    decode: (bytes) => JSON.parse(Buffer.from(bytes).toString("utf8")),
  },
};

/** Subject of all facts. */
export const factSubjects = eventsChannel.captures[0];

/** The facts about an invocation that other programs can subscribe to. */
export type InvocationFact = "started" | "finished" | "resumed" | "disconnected";

/** The facts of the build-signal controller. */
export type SignalFactKind = "request-changed" | "commit-green" | "commit-broken" | "no-verdict";

/** Subject of a fact about a commit that a queue validates. */
export function signalFactSubject(project: string, fact: SignalFactKind): string {
  return `${eventsChannel.name}.${project}.signal.${fact}`;
}

function jsonCodec<T>(): Codec<T> {
  return {
    encode: (message) => Buffer.from(JSON.stringify(message)),
    decode: (bytes) => JSON.parse(Buffer.from(bytes).toString("utf8")) as T,
  };
}

/**
 * Build-signal controller → build-signal controllers. Something was published, a queue was `configured` or a gate was
 * moved, or (`hello`) a process came and wants to hear who else there is. Lost: found within 5 s by every process that
 * has heard of another one.
 */
export const signalWakeChannel: PublishChannel<{
  readonly from: string;
  readonly kind: "published" | "configured" | "hello" | "here" | "bye";
}> = { kind: "publish", name: "signal.wake", message: jsonCodec() };

/** What the API and the command ask of the build-signal controller. */
export type SignalCommand =
  | {
      readonly kind: "ingest";
      readonly queue: string;
      readonly uri?: string;
      readonly metadata?: Readonly<Record<string, string>>;
    }
  | { readonly kind: "cancel"; readonly requestId: string }
  | { readonly kind: "redrive" | "discard"; readonly letter: SignalLetterName }
  /** `version`: the one that was read; 0: there must be none yet; left out: whatever there is. */
  | {
      readonly kind: "configure";
      readonly queue: string;
      readonly config: unknown;
      readonly version?: number;
    }
  | { readonly kind: "unconfigure"; readonly queue: string }
  | {
      readonly kind: "close-gate" | "open-gate";
      /** `process`, `build`, `buildsignal` or `record`. */
      readonly stage: string;
      /** A queue for `process`, a build for `buildsignal`, else a request; empty: the whole stage. */
      readonly key: string;
      readonly reason?: string;
    };

/** Names a dead letter. */
export interface SignalLetterKey {
  readonly topic: string;
  readonly group: string;
  readonly key: string;
  readonly messageId: string;
}

/** A dead letter by what it is about, or by the number that people see. */
export type SignalLetterName = SignalLetterKey | { readonly id: number };

export type SignalAnswer =
  | { readonly kind: "ok"; readonly requestId?: string; readonly state?: string; readonly version?: number }
  | { readonly kind: "refused"; readonly code: string; readonly message: string };

/** API, command → build-signal controller. Lost: the caller sees no answer and asks again; all may be repeated. */
export const signalCommandChannel: RequestChannel<SignalCommand, SignalAnswer> = {
  kind: "request",
  name: "signal.command",
  request: jsonCodec(),
  reply: jsonCodec(),
};

/** Queue group under which build-signal controllers serve commands. */
export const signalGroup = "buildsignal";

/** Subject of a channel that is served by shard. */
export function shardSubject(channel: { name: string }, shard: number): string {
  return `${channel.name}.${shard}`;
}

/** Queue group under which writers serve a subject: an overlap of two never delivers twice. */
export const writerQueue = "writers";

/** Subject of one invocation's digests. */
export function liveSubject(project: string, invocationId: string): string {
  return `${liveChannel.name}.${project}.${invocationToken(invocationId)}`;
}

/** Subject of all digests of a project. */
export function liveSubjectsOfProject(project: string): string {
  return `${liveChannel.name}.${project}.*`;
}

/** Subject of all digests. */
export const liveSubjects = `${liveChannel.name}.>`;

/** Subject of a fact about an invocation. */
export function invocationFactSubject(project: string, fact: InvocationFact): string {
  return `${eventsChannel.name}.${project}.invocation.${fact}`;
}

/** Subject of all facts of one project, what an internal tool subscribes to. */
export function factSubjectsOfProject(project: string): string {
  return `${eventsChannel.name}.${project}.>`;
}
