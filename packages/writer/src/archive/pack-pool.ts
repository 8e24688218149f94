import { Piscina } from "piscina";
import type { PackedArchive, PackOrder } from "./pack-archive.ts";

/** An idle thread ends after this. */
const idleMs = 10_000;

/** On Linux: commits go first when all cores are busy. Elsewhere Piscina ignores it. */
const niceIncrement = 15;

export interface PackPool {
  pack(order: PackOrder): Promise<PackedArchive>;
  close(): Promise<void>;
}

/** One thread for archives, started when the first is packed. */
export function startPackPool(): PackPool {
  let pool: Piscina | undefined;
  const start = (): Piscina =>
    new Piscina({
      filename: new URL("./pack-task.ts", import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: idleMs,
      niceIncrement,
      atomics: "disabled",
    });
  return {
    pack: (order) => {
      pool ??= start();
      return pool.run(order);
    },
    close: async () => {
      await pool?.destroy();
    },
  };
}
