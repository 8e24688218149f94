/** One server-sent event before it is written. */
export interface LiveEvent {
  /** Name of the event: `state`, `heartbeat`, … */
  readonly name: string;
  /** What a reconnecting viewer sends back as Last-Event-ID; empty = it keeps the one before. */
  readonly id: string;
  readonly data: unknown;
}

/** How a newer event of a key takes the place of one that was not written yet. */
export type Merge = (older: LiveEvent, newer: LiveEvent) => LiveEvent;

/**
 * What one viewer has not read yet. It holds the latest event of each key and nothing more, so that a viewer who does
 * not read costs a bounded amount: past `keysMax` keys everything is replaced by one `overflow` event, which
 * tells the viewer to read anew.
 */
export class Outbox {
  private readonly waiting = new Map<string, LiveEvent>();
  private readonly keysMax: number;
  private readonly merge: Merge;
  private readonly overflow: LiveEvent;
  private wake: (() => void) | undefined;
  private closed = false;

  constructor(settings: { keysMax: number; merge: Merge; overflow: LiveEvent }) {
    this.keysMax = settings.keysMax;
    this.merge = settings.merge;
    this.overflow = settings.overflow;
  }

  get size(): number {
    return this.waiting.size;
  }

  offer(key: string, event: LiveEvent): void {
    if (this.closed) return;
    const older = this.waiting.get(key);
    if (older === undefined && this.waiting.size >= this.keysMax) {
      this.waiting.clear();
      this.waiting.set("", this.overflow);
    } else {
      this.waiting.set(key, older === undefined ? event : this.merge(older, event));
    }
    this.rouse();
  }

  /** Everything that waits, oldest key first; waits for something. Undefined when closed and empty. */
  async take(): Promise<LiveEvent[] | undefined> {
    while (this.waiting.size === 0) {
      if (this.closed) return undefined;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    const events = [...this.waiting.values()];
    this.waiting.clear();
    return events;
  }

  /** What waits is still taken; nothing new is. */
  close(): void {
    this.closed = true;
    this.rouse();
  }

  private rouse(): void {
    const wake = this.wake;
    this.wake = undefined;
    wake?.();
  }
}
