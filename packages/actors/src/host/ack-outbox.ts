import { ackStride, type EndMessage, type FromThread } from "../thread-messages.ts";

/** Collects the acks of a tick for the front door. Ends and repeats keep their place behind the acks before them. */
export class AckOutbox {
  private entries: number[] = [];
  private isFlushAsked = false;
  private readonly post: (message: FromThread) => void;
  private readonly soon: (action: () => void) => void;

  constructor(to: { post: (message: FromThread) => void; soon: (action: () => void) => void }) {
    this.post = to.post;
    this.soon = to.soon;
  }

  ack(connection: number, to: number, released: number): void {
    this.entries.push(connection, to, released);
    if (this.isFlushAsked) return;
    this.isFlushAsked = true;
    this.soon(() => this.flush());
  }

  ackAgain(connection: number, sequence: number): void {
    this.flush();
    this.post({ kind: "ack-again", connection, sequence });
  }

  end(message: EndMessage): void {
    this.flush();
    this.post(message);
  }

  private flush(): void {
    this.isFlushAsked = false;
    if (this.entries.length < ackStride) return;
    const entries = Float64Array.from(this.entries);
    this.entries = [];
    this.post({ kind: "acks", entries });
  }
}
