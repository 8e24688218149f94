import type { ICarry, IOpenReply, IRows } from "@millrace/proto/pipeline";
import type { EndStatus } from "../thread-messages.ts";

/** Bounds of batching (SPEC.md §3); bytes are event and log bytes before compression. */
export interface BatchLimits {
  readonly batchEventsMax: number;
  readonly batchBytesMax: number;
  readonly batchDelayMs: number;
  readonly heldDelayMs: number;
  readonly inFlightBatchesMax: number;
  readonly inFlightBytesMax: number;
}

/** Compressed bytes of events or log. */
export interface SealedBody {
  readonly data: Uint8Array;
  /** Bytes before compression. */
  readonly rawBytes: number;
  /** Start of the SHA-256 of `data` in hex, where it is known already. */
  readonly digest?: string;
}

export interface SealedBodies {
  readonly events: SealedBody;
  readonly log: SealedBody | undefined;
}

/** Consecutive events of one attempt, scrubbed and normalised, ready to be compressed and sent. */
export interface BatchContent {
  readonly first: number;
  readonly last: number;
  /** Varint length and bytes of each event, in order. */
  readonly events: readonly Uint8Array[];
  readonly eventBytes: number;
  readonly log: readonly Uint8Array[];
  readonly logFirstByte: number;
  readonly logBytes: number;
  readonly logFirstLine: number;
  readonly logLines: number;
  readonly rows: IRows;
  readonly changedLabels: readonly string[];
  readonly carry: ICarry;
  readonly endsStream: boolean;
  readonly undecoded: number;
  /** True for the first batch of a connection that starts at 1: `open` rides on it. */
  readonly opens: boolean;
  /** Set when a task has compressed the batch already; then `events` and `log` are empty. */
  readonly sealed?: SealedBodies;
}

/** A large event to be scrubbed and normalised in a task of its own, with the detector state before it. */
export interface LargeProjection {
  readonly sequence: number;
  readonly bytes: Uint8Array;
  readonly carry: ICarry;
  /** The raw bytes may be needed again, so they must not be given away. */
  readonly keepsBytes: boolean;
}

/** What a task made of a large event. */
export interface ProjectedLarge {
  readonly sequence: number;
  readonly bodies: SealedBodies;
  readonly logLines: number;
  readonly rows: IRows;
  readonly changedLabels: readonly string[];
  readonly scrub: Uint8Array;
  readonly finishSeen: boolean;
  readonly endsStream: boolean;
  readonly undecoded: boolean;
}

export type TimerName = "batch" | "held";

/** What the actor wants done. The host does it and hands back the answer as an input. */
export type Effect =
  | { readonly kind: "open"; readonly firstSequence: number }
  | { readonly kind: "seal"; readonly batch: BatchContent }
  | { readonly kind: "project-large"; readonly large: LargeProjection }
  /** Acks up to `to`, and bytes of memory that are free again. */
  | { readonly kind: "ack"; readonly to: number; readonly released: number }
  | { readonly kind: "ack-again"; readonly sequence: number }
  | { readonly kind: "end"; readonly status: EndStatus; readonly message: string }
  /** Tell the writers that the connection is gone, so that the sweep may close the attempt later. */
  | { readonly kind: "release"; readonly attemptId: number }
  | { readonly kind: "arm"; readonly timer: TimerName; readonly delayMs: number }
  | { readonly kind: "digest"; readonly digest: Digest }
  /** Nothing of this actor is awaited any more: forget it, and stop asking for what is unanswered. */
  | { readonly kind: "remove" };

/** Committed state of the attempt, for live pages. */
export interface Digest {
  readonly attemptId: number;
  readonly attempt: number;
  readonly committed: number;
  readonly logBytes: number;
  readonly logLines: number;
  readonly ended: boolean;
  readonly changedLabels: readonly string[];
}

/** The answer to `open`, without the protobuf optionality. */
export interface Opened {
  readonly attemptId: number;
  readonly attempt: number;
  readonly committed: number;
  readonly finished: boolean;
  readonly carry: ICarry;
}

/** Reads a StreamOpened message; a field that is absent has its default. */
export function readOpened(message: NonNullable<IOpenReply["opened"]>): Opened {
  return {
    attemptId: message.attemptId ?? 0,
    attempt: message.attempt ?? 0,
    committed: message.committed ?? 0,
    finished: message.finished ?? false,
    carry: message.carry ?? {},
  };
}
