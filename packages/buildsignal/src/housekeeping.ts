import { type Clock, every } from "@millrace/base/clock";
import { errorText } from "@millrace/base/errors";
import type { Stoppable } from "@millrace/base/lifecycle";
import type { Log } from "@millrace/base/log";

const prunePeriodMs = 6 * 3_600_000;

/**
 * Removes what is not kept any longer: at once, for a process may never live six hours, and then every six hours. Several
 * processes may do it. What fails comes again.
 */
export function startHousekeeping(
  jobs: Readonly<Record<string, () => Promise<unknown>>>,
  world: { clock: Clock; log: Log },
): Stoppable {
  let running: Promise<unknown> = Promise.resolve();
  const runAll = async (): Promise<void> => {
    for (const [name, job] of Object.entries(jobs)) {
      try {
        const result = await job();
        if (result !== undefined) world.log.debug("pruned", { job: name, result });
      } catch (error) {
        world.log.warn("what is old was not removed", { job: name, error: errorText(error) });
      }
    }
  };
  const run = (): void => {
    running = running.then(runAll);
  };
  run();
  const stopTimer = every(world.clock, prunePeriodMs, run);
  return {
    name: "housekeeping",
    stop: async () => {
      stopTimer();
      await running;
    },
  };
}
