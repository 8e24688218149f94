import { type Clock, delay } from "@millrace/base/clock";
import { errorText } from "@millrace/base/errors";
import { type Latch, latch } from "@millrace/base/latch";
import type { Log } from "@millrace/base/log";
import type { Finished, QueueStore } from "./message.ts";

/** Finishes in one transaction. */
const finishedAtOnceMax = 500;
/** Pauses before a batch that failed is tried again. Receipts make a repeat harmless. */
const retryPausesMs = [50, 500, 2_000];

export type FinishResult = "stored" | "stale" | "abandoned";

interface Waiting {
  readonly finished: Finished;
  readonly answer: Latch<FinishResult>;
}

/**
 * Stores how deliveries ended, many at once: while one transaction is on its way, the next ones gather. One that
 * cannot be stored is abandoned: its visibility lapses and it comes again.
 */
export class Finisher {
  readonly #queue: QueueStore;
  readonly #world: { clock: Clock; log: Log };
  readonly #onNextDue: (inMs: number) => void;
  #waiting: Waiting[] = [];
  #isRunning = false;

  constructor(queue: QueueStore, world: { clock: Clock; log: Log }, onNextDue: (inMs: number) => void) {
    this.#queue = queue;
    this.#world = world;
    this.#onNextDue = onNextDue;
  }

  finish(finished: Finished): Promise<FinishResult> {
    const answer = latch<FinishResult>();
    this.#waiting.push({ finished, answer });
    if (!this.#isRunning) void this.#run();
    return answer.promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // What ends in this turn goes together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, finishedAtOnceMax);
      await this.#store(batch);
    }
    this.#isRunning = false;
  }

  async #store(batch: readonly Waiting[]): Promise<void> {
    for (const pauseMs of [...retryPausesMs, undefined]) {
      try {
        const { wereStored, nextDueInMs } = await this.#queue.finish(batch.map((one) => one.finished));
        for (const [index, one] of batch.entries()) one.answer.open(wereStored[index] ? "stored" : "stale");
        if (nextDueInMs !== undefined) this.#onNextDue(nextDueInMs);
        return;
      } catch (error) {
        if (pauseMs === undefined) {
          this.#world.log.error("finished deliveries could not be stored and will come again", {
            deliveries: batch.length,
            error: errorText(error),
          });
        } else await delay(this.#world.clock, pauseMs);
      }
    }
    for (const one of batch) one.answer.open("abandoned");
  }
}
