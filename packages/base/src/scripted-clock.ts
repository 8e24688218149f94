import type { Clock } from "./clock.ts";

/** A clock that a test moves by hand. Timers that fall due run in order of their time, then of their arming. */
export class ScriptedClock implements Clock {
  private nowMs: number;
  private armed: { at: number; action: () => void }[] = [];

  constructor(startMs = 0) {
    this.nowMs = startMs;
  }

  now(): number {
    return this.nowMs;
  }

  monotonic(): number {
    return this.nowMs;
  }

  after(delayMs: number, action: () => void): () => void {
    const timer = { at: this.nowMs + delayMs, action };
    this.armed.push(timer);
    return () => {
      this.armed = this.armed.filter((other) => other !== timer);
    };
  }

  /** Moves time on and lets promises settle before, between and after the timers. */
  async advance(byMs: number): Promise<void> {
    const until = this.nowMs + byMs;
    await settled();
    for (let next = this.next(until); next !== undefined; next = this.next(until)) {
      this.armed = this.armed.filter((other) => other !== next);
      this.nowMs = Math.max(this.nowMs, next.at);
      next.action();
      await settled();
    }
    this.nowMs = until;
    await settled();
  }

  private next(until: number): { at: number; action: () => void } | undefined {
    return this.armed.filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)[0];
  }
}

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
