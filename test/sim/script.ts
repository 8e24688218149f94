import type { Clock } from "@millrace/base/clock";
import type { Dice } from "./dice.ts";

/** A simulated operating-system process: what belongs to it does nothing once it is dead, and waits while stalled. */
export interface SimProcess {
  readonly name: string;
  isAlive: boolean;
  /** Scripted time until which it does nothing (SIGSTOP). */
  stalledUntilMs: number;
}

export function startProcess(name: string): SimProcess {
  return { name, isAlive: true, stalledUntilMs: 0 };
}

interface Task {
  readonly at: number;
  readonly order: number;
  readonly action: () => void;
  isCancelled: boolean;
}

/**
 * Scripted time. Nothing waits: the next task is run when all promises of the one before have settled. Two tasks
 * at the same instant run in an order that the dice choose.
 */
export class Script {
  private nowMs = 0;
  private tasks: Task[] = [];
  private readonly dice: Dice;
  /** Tasks run so far; a bound on it turns an endless run into a failure. */
  steps = 0;

  constructor(dice: Dice) {
    this.dice = dice;
  }

  get time(): number {
    return this.nowMs;
  }

  /** Runs `action` after `delayMs` of scripted time; the returned function cancels it. */
  after(delayMs: number, action: () => void): () => void {
    const task: Task = { at: this.nowMs + delayMs, order: this.dice.fraction(), action, isCancelled: false };
    let at = this.tasks.length;
    while (at > 0 && isLater(this.tasks[at - 1], task)) at -= 1;
    this.tasks.splice(at, 0, task);
    return () => {
      task.isCancelled = true;
    };
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(delayMs, resolve);
    });
  }

  /** Runs tasks until `isDone`, or until `untilMs`; false when the time or the steps ran out. */
  async run(bounds: { isDone: () => boolean; untilMs: number; stepsMax: number }): Promise<boolean> {
    while (!bounds.isDone()) {
      const task = this.tasks.shift();
      if (task === undefined || task.at > bounds.untilMs || this.steps > bounds.stepsMax) return false;
      this.nowMs = Math.max(this.nowMs, task.at);
      if (task.isCancelled) continue;
      this.steps += 1;
      task.action();
      await settled();
    }
    return true;
  }

  /** A clock of one process: its timers die with it, and are late when it is stalled. */
  clockOf(process: SimProcess): Clock {
    return {
      now: () => this.nowMs,
      monotonic: () => this.nowMs,
      after: (delayMs, action) => this.after(delayMs, () => this.doIn(process, action)),
    };
  }

  /** Does `action` in `process`: never when it is dead, later when it is stalled. */
  doIn(process: SimProcess, action: () => void): void {
    if (!process.isAlive) return;
    const waitMs = process.stalledUntilMs - this.nowMs;
    if (waitMs > 0) this.after(waitMs, () => this.doIn(process, action));
    else action();
  }
}

function isLater(task: Task | undefined, than: Task): boolean {
  if (task === undefined) return false;
  return task.at > than.at || (task.at === than.at && task.order > than.order);
}

/** All promise reactions that are due have run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
