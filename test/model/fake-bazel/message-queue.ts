const prefixBytes = 5;

/** gRPC messages on their way out, as the bytes they are on the wire: each with a prefix of five, one after the other. */
export class MessageQueue {
  private messages: Uint8Array[] = [];
  private head = 0;
  /** How much of the head's prefix and bytes is taken. */
  private taken = 0;
  private waiting = 0;

  /** Bytes to be taken, prefixes included. */
  get bytes(): number {
    return this.waiting;
  }

  push(message: Uint8Array): void {
    this.messages.push(message);
    this.waiting += prefixBytes + message.length;
  }

  /** Moves the next `count` bytes (at most `bytes`) to `into`, from `at` on. */
  take(into: Buffer, { at, count }: { at: number; count: number }): void {
    const end = at + count;
    this.waiting -= count;
    for (let to = at; to < end; ) {
      const message = this.messages[this.head];
      if (message === undefined) throw new Error("more was taken than waits");
      if (this.taken < prefixBytes) {
        to = this.takePrefix(into, { to, end, length: message.length });
        if (this.taken < prefixBytes) return;
      }
      const from = this.taken - prefixBytes;
      const part = Math.min(message.length - from, end - to);
      into.set(part === message.length ? message : message.subarray(from, from + part), to);
      this.taken += part;
      to += part;
      if (from + part === message.length) this.advance();
    }
  }

  /** Not compressed, the length in four bytes. Answers where it stopped. */
  private takePrefix(into: Buffer, of: { to: number; end: number; length: number }): number {
    let { to } = of;
    for (; this.taken < prefixBytes && to < of.end; this.taken += 1) {
      into[to++] = this.taken === 0 ? 0 : of.length >>> (8 * (prefixBytes - 1 - this.taken));
    }
    return to;
  }

  private advance(): void {
    this.taken = 0;
    this.head += 1;
    if (this.head === this.messages.length) {
      this.messages = [];
      this.head = 0;
    } else if (this.head >= 1_024 && this.head * 2 > this.messages.length) {
      this.messages = this.messages.slice(this.head);
      this.head = 0;
    }
  }
}
