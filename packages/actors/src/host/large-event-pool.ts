import { Piscina } from "piscina";
import type { LargeProjection, ProjectedLarge } from "../core/effects.ts";

/** An idle task thread ends after this; large events are rare. */
const idleMs = 10_000;

/** On Linux: other streams go first when all cores are busy. Elsewhere Piscina ignores it. */
const niceIncrement = 10;

// Piscina derives its type from an overload of `postMessage` that newer Node types have reordered.
type Transfer = NonNullable<Parameters<Piscina["run"]>[1]>["transferList"];

/** Works on large events in task threads of their own, started when the first one comes. */
export function largeEventProjector(): {
  project: (large: LargeProjection) => Promise<ProjectedLarge>;
  close: () => Promise<void>;
} {
  let pool: Piscina | undefined;
  const start = (): Piscina =>
    new Piscina({
      filename: new URL("./large-event-task.ts", import.meta.url).href,
      minThreads: 0,
      maxThreads: 2,
      idleTimeout: idleMs,
      niceIncrement,
    });
  return {
    project: async (large) => {
      pool ??= start();
      // The buffer came with the event's own message and holds nothing else.
      const owned = [large.bytes.buffer] as unknown as Transfer;
      return pool.run(large, { transferList: large.keepsBytes ? undefined : owned });
    },
    close: async () => {
      await pool?.destroy();
    },
  };
}
