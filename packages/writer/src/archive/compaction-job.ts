import { type Clock, delay } from "@millrace/base/clock";
import { errorText } from "@millrace/base/errors";
import type { Log } from "@millrace/base/log";
import type { Job, JobLease } from "../jobs.ts";
import { type CompactionPorts, compactAttempt } from "./compact.ts";

const periodMs = 10_000;

/** A run ends after this, so that it keeps its lease; the next one goes on. */
const runMsMax = 20_000;

/** Everything is looked at again after this: attempts that were archived and then resumed. */
const lookAgainMs = 3_600_000;

/** After each attempt as many times its own duration: commits come first on a small machine. */
const restFactor = 2;

export interface CompactionWorld {
  readonly clock: Clock;
  readonly log: Log;
  /** A build that has just ended may still be written to by an uploader that comes back. */
  readonly endedForSeconds: number;
  archived(archives: number): void;
  failed(): void;
  /** Attempts known to wait. */
  waiting(attempts: number): void;
}

/** Archives attempts that have ended, oldest first. One that fails is passed over until the next run. */
export function compactionJob(ports: CompactionPorts, world: CompactionWorld): Job {
  // Up to here all have ended and are archived.
  let settled = 0;
  let lookAgainAt = 0;
  const { clock, endedForSeconds } = world;
  return {
    name: "compaction",
    periodMs,
    run: async (lease) => {
      const runUntil = clock.monotonic() + runMsMax;
      if (clock.monotonic() >= lookAgainAt) {
        settled = 0;
        lookAgainAt = clock.monotonic() + lookAgainMs;
      }
      let waiting = 0;
      let isSettled = true;
      for (let after = settled, isLast = false; !isLast; ) {
        const page = await ports.store.findUnarchived({ after, endedForSeconds });
        for (const attemptId of page.attemptIds) {
          if (clock.monotonic() >= runUntil) waiting += 1;
          else await compactOne(attemptId, { ports, world, lease });
        }
        if (isSettled) settled = page.firstOpen === undefined ? page.lookedTo : page.firstOpen - 1;
        isSettled &&= page.firstOpen === undefined;
        ({ lookedTo: after, isLast } = page);
        isLast ||= clock.monotonic() >= runUntil;
      }
      world.waiting(waiting);
    },
  };
}

async function compactOne(
  attemptId: number,
  by: { ports: CompactionPorts; world: CompactionWorld; lease: JobLease },
): Promise<void> {
  const { clock, log, archived, failed } = by.world;
  const started = clock.monotonic();
  try {
    archived(await compactAttempt(attemptId, by.ports, by.lease));
  } catch (error) {
    failed();
    log.warn("an attempt could not be archived", { attemptId, error: errorText(error) });
  }
  await delay(clock, restFactor * (clock.monotonic() - started));
}
