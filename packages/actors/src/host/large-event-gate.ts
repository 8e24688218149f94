import type { LargeProjection, ProjectedLarge } from "../core/effects.ts";

/** Large events worked on at the same time. */
const atOnceMax = 2;
/** Their bytes together; one that is larger is worked on alone. A task needs about three times the event. */
const atOnceBytesMax = 64 * 1024 * 1024;

interface Waiting {
  readonly bytes: number;
  readonly start: () => void;
}

/** Lets few large events be worked on at once; the others wait in order, and their streams with them. */
export class LargeEventGate {
  private running = 0;
  private runningBytes = 0;
  private readonly waiting: Waiting[] = [];
  private readonly run: (large: LargeProjection) => Promise<ProjectedLarge>;

  constructor(run: (large: LargeProjection) => Promise<ProjectedLarge>) {
    this.run = run;
  }

  async project(large: LargeProjection): Promise<ProjectedLarge> {
    // Its buffer may be given away with the run, and then has no length any more.
    const bytes = large.bytes.length;
    await new Promise<void>((resolve) => {
      this.waiting.push({ bytes, start: resolve });
      this.startNext();
    });
    try {
      return await this.run(large);
    } finally {
      this.running -= 1;
      this.runningBytes -= bytes;
      this.startNext();
    }
  }

  private startNext(): void {
    for (let next = this.waiting[0]; next !== undefined && this.admits(next.bytes); next = this.waiting[0]) {
      this.waiting.shift();
      this.running += 1;
      this.runningBytes += next.bytes;
      next.start();
    }
  }

  private admits(bytes: number): boolean {
    if (this.running === 0) return true;
    return this.running < atOnceMax && this.runningBytes + bytes <= atOnceBytesMax;
  }
}
