import type { BlobSettings } from "@millrace/blobs/settings";
import type { IngestFailPoint } from "./fail-point-names.ts";

/**
 * What the front door and a worker thread say to each other (SPEC.md §2). Both sides live in one process, so
 * this is no wire format: it may change with the code.
 */

/** What a peeked event holds, as a number for the arena's metadata. */
export const eventKind = { bazel: 1, streamFinished: 2, other: 3 } as const;
export type EventKind = (typeof eventKind)[keyof typeof eventKind];

/** Bytes that every event costs on top of its length, in every budget. */
export const eventOverheadBytes = 256;

/** An event above this is sent alone, in its own buffer, and scrubbed and compressed in a task of its own. */
export const largeEventBytes = 1024 * 1024;

/** Numbers per event in `EventsMessage.meta`: connection, sequence number, length, kind. */
export const metaStride = 4;

/** Numbers per entry in `AcksMessage.entries`: connection, acked to, released bytes. */
export const ackStride = 3;

/** A call has sent its first event; always before that event. */
export interface ConnectedMessage {
  readonly kind: "connected";
  readonly connection: number;
  readonly project: string;
  readonly invocationId: string;
  readonly buildId: string;
  readonly firstSequence: number;
  /** Key of the HMAC over event 1; the same on all nodes. */
  readonly serverSecret: Uint8Array;
}

/** The events of one tick for this thread, back to back in one arena that is transferred. */
export interface EventsMessage {
  readonly kind: "events";
  readonly arena: ArrayBuffer;
  readonly meta: Float64Array;
}

export interface LargeEventMessage {
  readonly kind: "large";
  readonly connection: number;
  readonly sequence: number;
  readonly event: EventKind;
  /** Covers its whole ArrayBuffer's used range; transferred. */
  readonly bytes: Uint8Array;
}

/** The client half-closed, or its connection is gone. `broken` may follow `half-closed`. */
export interface ConnectionStateMessage {
  readonly kind: "half-closed" | "broken";
  readonly connection: number;
}

/** Take no more: end every connection after acking what is committed, then let the task's promise resolve. */
export interface DrainMessage {
  readonly kind: "drain";
}

/** Fail as a defect would make you fail: for tests. */
export interface CrashMessage {
  readonly kind: "crash";
}

export type ToThread =
  | ConnectedMessage
  | EventsMessage
  | LargeEventMessage
  | ConnectionStateMessage
  | DrainMessage
  | CrashMessage;

/** Acks up to and including `acked to` of each connection, and bytes whose events need no memory any more. */
export interface AcksMessage {
  readonly kind: "acks";
  readonly entries: Float64Array;
}

/** One more ack for an event that this connection sent a second time. */
export interface AckAgainMessage {
  readonly kind: "ack-again";
  readonly connection: number;
  readonly sequence: number;
}

/** gRPC status codes that a connection may end with. */
export const endStatus = {
  ok: 0,
  invalidArgument: 3,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  unavailable: 14,
} as const;
export type EndStatus = (typeof endStatus)[keyof typeof endStatus];

/** Acks said before it are flushed first; in one write when the status is OK. */
export interface EndMessage {
  readonly kind: "end";
  readonly connection: number;
  readonly status: EndStatus;
  readonly message: string;
}

/** Counters of the thread since its start, once a second. */
export interface StatsMessage {
  readonly kind: "stats";
  readonly counters: Readonly<Record<string, number>>;
}

export type FromThread = AcksMessage | AckAgainMessage | EndMessage | StatsMessage;

/** What a thread's long-lived task is started with. */
export interface ThreadStart {
  readonly port: import("node:worker_threads").MessagePort;
  readonly settings: ThreadSettings;
}

export interface ThreadSettings {
  readonly natsUrl: string;
  readonly nodeId: string;
  readonly blobs: BlobSettings;
  readonly logLevel: string;
  readonly batchEventsMax: number;
  readonly batchBytesMax: number;
  readonly batchDelayMs: number;
  readonly inFlightBatchesMax: number;
  readonly inFlightBytesMax: number;
  /** NATS payload bound of one batch message, compressed. */
  readonly messageBytesMax: number;
  readonly outageHoldMaxMs: number;
  readonly failPoint: IngestFailPoint | undefined;
}
