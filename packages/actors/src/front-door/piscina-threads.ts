import { errorText } from "@millrace/base/errors";
import type { Log } from "@millrace/base/log";
import { Piscina } from "piscina";
import type { ThreadRunner } from "./thread-pool.ts";

// Piscina derives its type from an overload of `postMessage` that newer Node types have reordered.
type Transfer = NonNullable<Parameters<Piscina["run"]>[1]>["transferList"];

/**
 * Worker threads owned by Piscina, each busy with one task for its whole life. Its default way to wait for tasks
 * freezes timers and sockets of an idle thread, so that is off.
 *
 * @param settings.file module whose default export is the task
 */
export function piscinaThreads(settings: { file: URL; threads: number; log: Log }): {
  run: ThreadRunner;
  close: () => Promise<void>;
} {
  const pool = new Piscina({
    filename: settings.file.href,
    minThreads: settings.threads,
    maxThreads: settings.threads,
    atomics: "disabled",
  });
  // A thread that dies between tasks; the next task starts another one.
  pool.on("error", (error: unknown) =>
    settings.log.error("an idle thread died", { error: errorText(error) }),
  );
  return {
    run: async (start, signal) => {
      await pool.run(start, { transferList: [start.port] as unknown as Transfer, signal });
    },
    close: () => pool.destroy(),
  };
}
