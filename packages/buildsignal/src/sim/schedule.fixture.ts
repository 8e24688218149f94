import type { Clock } from "@millrace/base/clock";
import type { Dice } from "../../../../test/sim/dice.ts";

/** One process of a simulation. */
export interface Life {
  isDead: boolean;
}

/** What a dead process's operations end with. */
export class Died extends Error {
  readonly code = "died";
}

interface Waiting {
  readonly life: Life;
  readonly go: () => void;
  readonly stop: () => void;
}

interface Timer {
  readonly life: Life;
  readonly atMs: number;
  readonly action: () => void;
}

/**
 * Decides which of all waiting operations goes on next, and when time passes: by dice, so that a seed is a history.
 * Nothing happens but by its `turn`.
 */
export class Schedule {
  nowMs = 1_000_000;
  /** What the wall clock of the processes is off by. */
  wallOffsetMs = 0;
  readonly #dice: Dice;
  #waiting: Waiting[] = [];
  #timers: Timer[] = [];

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  /** An operation waits here until it is its turn. */
  pause(life: Life): Promise<void> {
    if (life.isDead) return Promise.reject(new Died("this process has died"));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ life, go: resolve, stop: () => reject(new Died("this process has died")) });
    });
  }

  clockOf(life: Life): Clock {
    return {
      now: () => this.nowMs + this.wallOffsetMs,
      monotonic: () => this.nowMs,
      after: (delayMs, action) => {
        const timer: Timer = { life, atMs: this.nowMs + Math.max(0, delayMs), action };
        this.#timers.push(timer);
        return () => {
          this.#timers = this.#timers.filter((other) => other !== timer);
        };
      },
    };
  }

  kill(life: Life): void {
    life.isDead = true;
    const timers = this.#timers.filter((timer) => timer.life === life);
    this.#timers = this.#timers.filter((timer) => timer.life !== life);
    // Whoever slept goes on to an operation and learns there that it is dead; nothing of ours waits for ever.
    for (const timer of timers) timer.action();
    const dropped = this.#waiting.filter((one) => one.life === life);
    this.#waiting = this.#waiting.filter((one) => one.life !== life);
    for (const one of dropped) one.stop();
  }

  /** One step of somebody, or the next timer. False when there is neither. */
  async turn(): Promise<boolean> {
    await settled();
    const next = this.#timers.reduce<Timer | undefined>(
      (best, other) => (best === undefined || other.atMs < best.atMs ? other : best),
      undefined,
    );
    if (this.#waiting.length > 0 && (next === undefined || !this.#dice.happens(0.02))) {
      const at = this.#dice.between(0, this.#waiting.length - 1);
      const [chosen] = this.#waiting.splice(at, 1);
      this.nowMs += this.#dice.between(0, 2);
      chosen?.go();
      return true;
    }
    if (next === undefined) return false;
    this.#timers = this.#timers.filter((other) => other !== next);
    this.nowMs = Math.max(this.nowMs, next.atMs);
    next.action();
    return true;
  }
}

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
