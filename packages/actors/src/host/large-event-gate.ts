import type { LargeProjection, ProjectedLarge } from "../core/effects.ts";

/** Large events projected at the same time, in a process with one thread; each may be 100 MB. */
const atOnceMax = 2;

/** Lets at most two large events be projected at once; the others wait in order, and their streams with them. */
export class LargeEventGate {
  private running = 0;
  private readonly waiting: (() => void)[] = [];
  private readonly run: (large: LargeProjection) => Promise<ProjectedLarge>;

  constructor(run: (large: LargeProjection) => Promise<ProjectedLarge>) {
    this.run = run;
  }

  async project(large: LargeProjection): Promise<ProjectedLarge> {
    if (this.running >= atOnceMax) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.running += 1;
    try {
      return await this.run(large);
    } finally {
      const next = this.waiting.shift();
      // A slot that is handed on stays counted.
      if (next === undefined) this.running -= 1;
      else next();
    }
  }
}
