const capacityAtFirst = 16;

/**
 * Requests that were sent and wait for their acks, a run of sequence numbers without holes: a ring, because a load
 * generator puts every event in and takes it out again.
 */
export class SentEvents {
  private requests: (Uint8Array | undefined)[] = new Array(capacityAtFirst);
  private times = new Float64Array(capacityAtFirst);
  private first = 1;
  private end = 1;

  /** Adds the request of the next number. */
  push(request: Uint8Array, sinceMs: number): void {
    if (this.end - this.first === this.requests.length) this.grow();
    const place = this.placeOf(this.end);
    this.requests[place] = request;
    this.times[place] = sinceMs;
    this.end += 1;
  }

  /** Undefined when the event is not there: not sent, or acknowledged. */
  request(sequence: number): Uint8Array | undefined {
    return sequence >= this.first && sequence < this.end ? this.requests[this.placeOf(sequence)] : undefined;
  }

  setSince(sequence: number, sinceMs: number): void {
    this.times[this.placeOf(sequence)] = sinceMs;
  }

  /** Removes the first event, which must exist; answers since when it waited. */
  shift(): number {
    const place = this.placeOf(this.first);
    this.requests[place] = undefined;
    this.first += 1;
    return this.times[place] ?? 0;
  }

  /** Capacities are powers of two. */
  private placeOf(sequence: number): number {
    return sequence & (this.requests.length - 1);
  }

  private grow(): void {
    const { requests, times } = this;
    const old = requests.length;
    this.requests = new Array(old * 2);
    this.times = new Float64Array(old * 2);
    for (let sequence = this.first; sequence < this.end; sequence += 1) {
      const from = sequence & (old - 1);
      const to = this.placeOf(sequence);
      this.requests[to] = requests[from];
      this.times[to] = times[from] ?? 0;
    }
  }
}
