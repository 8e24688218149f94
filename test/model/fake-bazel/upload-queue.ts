/** Makes the request of the event with that number. Called once per event: what is sent again is sent byte for byte. */
export type MakeRequest = (sequence: number) => Uint8Array;

/** An event that was sent and waits for its acknowledgement. */
interface SentEvent {
  readonly request: Uint8Array;
  sentAtMs: number;
}

/** Why the client gives up for good: it received an ack that is not the head of its queue. */
export interface AckFault {
  readonly fault: string;
}

/**
 * Bazel's queue of one build's events (bes-client.md §1.2). Sending does not wait for acks and has no window. An ack must
 * be for the head of the sent events. After a break all unacknowledged events go in front again.
 */
export class UploadQueue {
  private readonly source: Iterator<MakeRequest>;
  private ahead: IteratorResult<MakeRequest>;
  private readonly unacked = new Map<number, SentEvent>();
  private acked = 0;
  /** Highest number that was sent on the current stream. */
  private sent = 0;
  /** Highest number that was sent on any stream. */
  private taken = 0;

  constructor(events: Iterable<MakeRequest>) {
    this.source = events[Symbol.iterator]();
    this.ahead = this.source.next();
  }

  /** Nothing is left to send on this stream; acks may still be due. */
  get allIsSent(): boolean {
    return this.sent === this.taken && this.ahead.done === true;
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

  /** The next event for this stream; undefined when all is sent. `again`: it was sent on an earlier stream too. */
  takeNext(nowMs: number): { sequence: number; request: Uint8Array; again: boolean } | undefined {
    const sequence = this.sent + 1;
    const again = sequence <= this.taken;
    const event = again ? this.unacked.get(sequence) : this.takeFromSource(nowMs);
    if (event === undefined) return undefined;
    event.sentAtMs = nowMs;
    this.sent = sequence;
    return { sequence, request: event.request, again };
  }

  /** Answers how many milliseconds the event waited. */
  acknowledge(sequence: number, nowMs: number): number | AckFault {
    const head = this.acked + 1;
    if (head > this.sent) return { fault: `Received ACK with seqNum=${sequence} when no ACK was expected` };
    if (sequence !== head) {
      return { fault: `Expected ACK with seqNum=${head} but received ACK with seqNum=${sequence}` };
    }
    const event = this.unacked.get(head);
    this.unacked.delete(head);
    this.acked = head;
    return nowMs - (event?.sentAtMs ?? nowMs);
  }

  /** The stream is gone: the next one begins with the first unacknowledged event. */
  startOver(): void {
    this.sent = this.acked;
  }

  private takeFromSource(nowMs: number): SentEvent | undefined {
    if (this.ahead.done === true) return undefined;
    this.taken += 1;
    const event = { request: this.ahead.value(this.taken), sentAtMs: nowMs };
    this.unacked.set(this.taken, event);
    this.ahead = this.source.next();
    return event;
  }
}
