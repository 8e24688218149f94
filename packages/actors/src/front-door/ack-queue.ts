/** A run of acknowledgements, both ends included. */
export interface AckRun {
  from: number;
  to: number;
}

/**
 * Acknowledgements of one connection that are not written yet, in order. Runs take no memory by their length, so
 * a client that reads none of a million costs no more than one that reads all.
 */
export class AckQueue {
  private readonly runs: AckRun[] = [];
  private count = 0;
  private last: number;

  /** @param first sequence number of the connection's first event */
  constructor(first: number) {
    this.last = first - 1;
  }

  /** How many acknowledgements wait. */
  get length(): number {
    return this.count;
  }

  /** Sequence number up to which this connection's events are acknowledged or will be. */
  get acked(): number {
    return this.last;
  }

  /** Adds all up to and including `to`; nothing when that is known already. */
  upTo(to: number): void {
    if (to <= this.last) return;
    this.push(this.last + 1, to);
    this.last = to;
  }

  /** Adds one more for an event that this connection sent again. */
  again(sequence: number): void {
    this.push(sequence, sequence);
  }

  /** Takes the first run, or its first `countMax`; undefined when nothing waits. */
  take(countMax: number): AckRun | undefined {
    const first = this.runs[0];
    if (first === undefined) return undefined;
    const to = Math.min(first.to, first.from + countMax - 1);
    const taken = { from: first.from, to };
    if (to === first.to) this.runs.shift();
    else first.from = to + 1;
    this.count -= to - taken.from + 1;
    return taken;
  }

  private push(from: number, to: number): void {
    this.count += to - from + 1;
    const tail = this.runs.at(-1);
    if (tail !== undefined && tail.to === from - 1) tail.to = to;
    else this.runs.push({ from, to });
  }
}
