import { Piscina } from "piscina";
import type { LargeProjection, ProjectedLarge } from "../core/effects.ts";

/** An idle task thread ends after this; large events are rare. */
const idleMs = 10_000;

/** Runs the projection of large events in task threads of their own, started when the first one comes. */
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
    });
  return {
    project: async (large) => {
      pool ??= start();
      const owned = large.bytes.buffer as ArrayBuffer;
      const mayGiveAway = !large.keepsBytes && large.bytes.byteLength === owned.byteLength;
      return mayGiveAway ? pool.run(large, { transferList: [owned] }) : pool.run(large);
    },
    close: async () => {
      await pool?.destroy();
    },
  };
}
