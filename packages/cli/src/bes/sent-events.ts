/** One event that was sent. */
export interface SentEvent {
  readonly sequence: number;
  readonly request: Buffer;
}

/** What was sent and not yet acknowledged, in order: a client sends it again after a failure. */
export class SentEvents {
  #events: SentEvent[] = [];
  #first = 0;
  #bytes = 0;

  get count(): number {
    return this.#events.length - this.#first;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(event: SentEvent): void {
    this.#events.push(event);
    this.#bytes += event.request.length;
  }

  /** Takes an acknowledgement, which must be that of the oldest event. Answers what is wrong with it, if it is not. */
  ack(sequence: number): string | undefined {
    const oldest = this.#events[this.#first];
    if (oldest === undefined) return `the server acknowledged ${sequence}, and nothing was waiting for it`;
    if (oldest.sequence !== sequence) {
      return `the server acknowledged ${sequence} where ${oldest.sequence} was due`;
    }
    this.#bytes -= oldest.request.length;
    this.#first += 1;
    if (this.#first > 1024 && this.#first * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#first);
      this.#first = 0;
    }
    return undefined;
  }

  /** A copy, oldest first. */
  all(): readonly SentEvent[] {
    return this.#events.slice(this.#first);
  }
}
