import { type Clock, delay } from "@millrace/base/clock";

/** Says when each event of a build is due. Events late in a row go at once, so that the rate holds on average. */
export class EventPace {
  private readonly clock: Clock;
  private readonly gapMs: number;
  private readonly untilMs: number;
  private nextDueMs: number;
  private due: number | undefined;

  /** `gapMs` 0 is flat out; after `untilMs` (of the monotonic clock) it is as well. */
  constructor(of: { clock: Clock; gapMs: number; untilMs: number }) {
    this.clock = of.clock;
    this.gapMs = of.gapMs;
    this.untilMs = of.untilMs;
    this.nextDueMs = of.clock.monotonic();
  }

  get isFlatOut(): boolean {
    return this.gapMs === 0;
  }

  /** When the event at hand was due; undefined while there is no pace to keep. */
  get dueMs(): number | undefined {
    return this.due;
  }

  /** Resolves when the next event is due. */
  async next(): Promise<void> {
    const isPaced = this.nextDueMs < this.untilMs;
    await this.until(isPaced ? this.nextDueMs : this.untilMs);
    this.due = isPaced ? this.nextDueMs : undefined;
    if (isPaced) this.nextDueMs += this.gapMs;
  }

  private async until(ms: number): Promise<void> {
    const leftMs = ms - this.clock.monotonic();
    // Rounded up: Node's timers drop fractions, and an event must not precede its time.
    if (leftMs > 0) await delay(this.clock, Math.ceil(leftMs));
  }
}
