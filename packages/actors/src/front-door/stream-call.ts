import type { EndStatus } from "../thread-messages.ts";
import type { FramingFault } from "./message-assembler.ts";

/** The acknowledgements `from`..`to`, both included. `streamId` is the bytes of the connection's StreamId. */
export interface AckRange {
  readonly streamId: Uint8Array;
  readonly from: number;
  readonly to: number;
}

/**
 * One call of PublishBuildToolEventStream as the front door uses it. Response headers are sent when it is made;
 * reading starts paused.
 */
export interface StreamCall {
  /** Value of `x-api-key`. */
  readonly apiKey: string | undefined;
  readonly peer: string;
  /** Bytes that have arrived of a message that is not complete yet; 0 where that cannot be known. */
  readonly partialBytes: number;
  /** Stops reading, also in the middle of what has arrived already. */
  pause(): void;
  /** Reads on; a message that was not admitted is asked for again. */
  resume(): void;
  /** False: the client is not reading. The acks are on their way all the same; `drained` says when to go on. */
  write(acks: AckRange): boolean;
  /** Ends the call behind all that was written. Afterwards nothing of it is reported any more. */
  end(ending: CallEnding): void;
}

/** How a call ends. Its last acknowledgements leave with its status: nothing can come between them. */
export interface CallEnding {
  readonly status: EndStatus;
  readonly message: string;
  readonly acks: readonly AckRange[];
}

/** What can be wrong with a request stream beside the content of its messages. */
export type CallFault =
  | FramingFault
  /** The client half-closed in the middle of a message. */
  | { readonly kind: "cut-off" }
  | { readonly kind: "bad-compression"; readonly reason: string };

/** Who listens to a call. */
export interface StreamCallSink {
  /** May a message of this length be taken now? If not, `resume` is called when it may. */
  admit(messageBytes: number): boolean;
  message(bytes: Uint8Array): void;
  fault(fault: CallFault): void;
  /** The client will send no more. Also seen when its connection dies: no proof of completion. */
  halfClosed(): void;
  /** The call is gone: cancelled, or its connection is. */
  broken(): void;
  /** The client reads acknowledgements again. */
  drained(): void;
}
