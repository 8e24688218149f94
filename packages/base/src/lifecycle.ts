import { flushCompileCache } from "node:module";
import { errorText } from "./errors.ts";
import type { Log } from "./log.ts";

/** Something that was started and must be stopped, in reverse order of its start. */
export interface Stoppable {
  readonly name: string;
  stop(): Promise<void>;
}

/**
 * Runs a process until SIGTERM, SIGINT or the parent's going away, then stops `parts` in reverse order and
 * exits 0. A part that fails to stop is logged and the rest is stopped all the same. A second signal exits at once.
 */
export function runUntilSignal(parts: readonly Stoppable[], log: Log): void {
  let stopping = false;
  const stop = async (reason: string): Promise<void> => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info("stopping", { reason });
    for (const part of [...parts].reverse()) {
      try {
        await part.stop();
      } catch (error) {
        log.error("did not stop cleanly", { part: part.name, error: errorText(error) });
      }
    }
    process.exit(0);
  };
  // Node writes what it compiled only when it exits, and a process that is killed should be back quickly too.
  flushCompileCache();
  process.on("SIGTERM", () => void stop("SIGTERM"));
  process.on("SIGINT", () => void stop("SIGINT"));
  process.on("disconnect", () => void stop("the supervisor went away"));
}
