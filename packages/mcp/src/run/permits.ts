import { latch } from "@millrace/base/latch";

/** A bounded number of holders; who waits may leave the queue. First come, first served. */
export class Permits {
  private free: number;
  private readonly waiting: { admit: () => void }[] = [];

  constructor(count: number) {
    this.free = count;
  }

  /** Resolves to a function that gives the permit back, or to undefined when `gaveUp` came first. */
  async acquire(gaveUp: Promise<unknown>): Promise<(() => void) | undefined> {
    if (this.free > 0) {
      this.free -= 1;
      return once(() => this.giveBack());
    }
    const admitted = latch<boolean>();
    const entry = { admit: () => admitted.open(true) };
    this.waiting.push(entry);
    void gaveUp.then(() => {
      const at = this.waiting.indexOf(entry);
      if (at === -1) return;
      this.waiting.splice(at, 1);
      admitted.open(false);
    });
    return (await admitted.promise) ? once(() => this.giveBack()) : undefined;
  }

  private giveBack(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.free += 1;
    else next.admit();
  }
}

function once(action: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) action();
    isDone = true;
  };
}
