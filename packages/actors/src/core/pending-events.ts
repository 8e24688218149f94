/** A received event that has not been projected yet. */
export interface PendingEvent {
  readonly sequence: number;
  readonly bytes: Uint8Array;
  /** Above `largeEventBytes`: projected by a task, in a batch of its own. */
  readonly large: boolean;
}

/**
 * Received events of one connection in order, and what their memory costs. An event leaves the queue when it is
 * projected; its cost is released when it is committed, because a batch that opens the stream may have to be
 * projected anew.
 */
export class PendingEvents {
  private events: PendingEvent[] = [];
  private head = 0;
  /** Costs of the events `firstCosted … firstCosted + costs.length − 1`. */
  private costs: number[] = [];
  private firstCosted: number;

  constructor(firstSequence: number) {
    this.firstCosted = firstSequence;
  }

  push(event: PendingEvent, cost: number): void {
    this.events.push(event);
    this.costs.push(cost);
  }

  /** Counts an event that is stored already: it needs no projection, only its memory released. */
  skip(cost: number): void {
    this.costs.push(cost);
  }

  get length(): number {
    return this.events.length - this.head;
  }

  peek(): PendingEvent | undefined {
    return this.events[this.head];
  }

  shift(): PendingEvent | undefined {
    const event = this.events[this.head];
    if (event === undefined) return undefined;
    this.head += 1;
    if (this.head === this.events.length) {
      this.events = [];
      this.head = 0;
    }
    return event;
  }

  /** Puts projected events back in front, to be projected anew. */
  unshift(events: readonly PendingEvent[]): void {
    this.events = [...events, ...this.events.slice(this.head)];
    this.head = 0;
  }

  /** Events up to `committed` need no projection: they are stored. */
  dropUpTo(committed: number): void {
    for (let next = this.peek(); next !== undefined && next.sequence <= committed; next = this.peek()) {
      this.shift();
    }
  }

  /** Releases what the events up to `sequence` cost; returns the bytes. */
  releaseUpTo(sequence: number): number {
    const count = Math.min(this.costs.length, Math.max(0, sequence - this.firstCosted + 1));
    if (count === 0) return 0;
    const freed = this.costs.splice(0, count);
    this.firstCosted += count;
    return freed.reduce((sum, cost) => sum + cost, 0);
  }

  dropAll(): void {
    this.events = [];
    this.head = 0;
  }
}
