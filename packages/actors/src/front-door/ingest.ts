import type { PeekedRequest } from "@millrace/proto/bes/peek";
import type { ConnectedMessage, EndStatus } from "../thread-messages.ts";

/** What is known of a connection when its first event is there. */
export type ConnectionStart = Omit<ConnectedMessage, "kind">;

/** What the worker threads say about one connection. */
export interface IngestListener {
  /** Events up to `to` are committed; events of `releasedBytes` (with overhead) need no memory any more. */
  acked(to: number, releasedBytes: number): void;
  /** One more acknowledgement for an event that came twice. */
  ackedAgain(sequence: number): void;
  /** Nothing more is read or acknowledged; bytes may still be released. */
  ended(status: EndStatus, message: string): void;
  /** The thread died with all it held: nothing more comes, not even released bytes. */
  lost(): void;
}

/** The way of one connection's events to its thread, strictly in order. */
export interface Lane {
  /** The request's bytes must not change afterwards; a large event's are given away. */
  event(request: PeekedRequest): void;
  halfClosed(): void;
  broken(): void;
  /** The listener hears no more of this connection. */
  close(): void;
}

/** Where events go: the worker threads, or a model of them. */
export interface Ingest {
  /** Undefined while the invocation's thread is being restarted. */
  connect(start: ConnectionStart, listener: IngestListener): Lane | undefined;
  /** Calls `action` once, when the invocation's thread is there; the returned function takes that back. */
  whenUp(invocation: { project: string; invocationId: string }, action: () => void): () => void;
}
