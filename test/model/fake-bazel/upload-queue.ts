import { SentEvents } from "./sent-events.ts";

/** The requests of one build, one after the other. */
export interface RequestSource {
  /** There is no other. */
  readonly isDone: boolean;
  /** Makes the next request, which is that of the event `sequence`. What is sent again is not made again. */
  next(sequence: number): Uint8Array;
}

/** Why the client gives up for good: it received an ack that is not the head of its queue. */
export interface AckFault {
  readonly fault: string;
}

/**
 * Since when an event waits for its ack: since it was sent on this stream, or since it was due for the first time,
 * however late or often it was sent.
 */
export type LatencyStart = "last-sending" | "first-due";

/**
 * Bazel's queue of one build's events (bes-client.md §1.2). Sending does not wait for acks and has no window. An ack must
 * be for the head of the sent events. After a break all unacknowledged events go in front again.
 */
export class UploadQueue {
  private readonly source: RequestSource;
  private readonly latencyStart: LatencyStart;
  private readonly unacked = new SentEvents();
  private acked = 0;
  /** Highest number that was sent on the current stream. */
  private sent = 0;
  /** Highest number that was sent on any stream. */
  private taken = 0;

  constructor(source: RequestSource, latencyStart: LatencyStart) {
    this.source = source;
    this.latencyStart = latencyStart;
  }

  /** Nothing is left to send on this stream; acks may still be due. */
  get allIsSent(): boolean {
    return this.sent === this.taken && this.source.isDone;
  }

  /** The number `takeNext` will give. */
  get nextSequence(): number {
    return this.sent + 1;
  }

  get unackedCount(): number {
    return this.sent - this.acked;
  }

  get ackedCount(): number {
    return this.acked;
  }

  /**
   * The next event for this stream, sent now and due at `dueMs`; undefined when all is sent. `again`: it was sent on an
   * earlier stream too.
   */
  takeNext(at: {
    dueMs: number;
    nowMs: number;
  }): { sequence: number; request: Uint8Array; again: boolean } | undefined {
    const sequence = this.sent + 1;
    const keepsFirst = this.latencyStart === "first-due";
    const sentBefore = this.unacked.request(sequence);
    if (sentBefore !== undefined) {
      if (!keepsFirst) this.unacked.setSince(sequence, at.nowMs);
      this.sent = sequence;
      return { sequence, request: sentBefore, again: true };
    }
    if (this.source.isDone) return undefined;
    const request = this.source.next(sequence);
    this.unacked.push(request, keepsFirst ? at.dueMs : at.nowMs);
    this.taken = sequence;
    this.sent = sequence;
    return { sequence, request, again: false };
  }

  /** Answers how many milliseconds the event waited. */
  acknowledge(sequence: number, nowMs: number): number | AckFault {
    const head = this.acked + 1;
    if (head > this.sent) return { fault: `Received ACK with seqNum=${sequence} when no ACK was expected` };
    if (sequence !== head) {
      return { fault: `Expected ACK with seqNum=${head} but received ACK with seqNum=${sequence}` };
    }
    this.acked = head;
    return nowMs - this.unacked.shift();
  }

  /** The stream is gone: the next one begins with the first unacknowledged event. */
  startOver(): void {
    this.sent = this.acked;
  }
}
