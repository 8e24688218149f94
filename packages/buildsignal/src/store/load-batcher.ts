import { type Latch, latch } from "@millrace/base/latch";

const idsAtOnceMax = 500;

/**
 * Turns many reads by id into few: while one is on its way, the ids that are asked for meanwhile gather for the next.
 * An answer is never older than its question.
 */
export class LoadBatcher<T> {
  readonly #read: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>;
  #waiting = new Map<string, Latch<T | undefined>>();
  #isRunning = false;

  constructor(read: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>) {
    this.#read = read;
  }

  load(id: string): Promise<T | undefined> {
    const there = this.#waiting.get(id);
    if (there !== undefined) return there.promise;
    const answer = latch<T | undefined>();
    this.#waiting.set(id, answer);
    if (!this.#isRunning) void this.#run();
    return answer.promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // What is asked for in this turn goes together.
    await Promise.resolve();
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting].slice(0, idsAtOnceMax);
      for (const [id] of batch) this.#waiting.delete(id);
      try {
        const found = await this.#read(batch.map(([id]) => id));
        for (const [id, answer] of batch) answer.open(found.get(id));
      } catch (error) {
        for (const [, answer] of batch) answer.fail(error);
      }
    }
    this.#isRunning = false;
  }
}
