import type { Clock } from "@millrace/base/clock";
import type { Log } from "@millrace/base/log";
import type { Random } from "@millrace/base/random";
import { invocationFact } from "./facts.ts";
import type { Job, JobLease } from "./jobs.ts";
import type { AttemptSummary, OutboxRow } from "./store.ts";

/** An attempt that nobody has written to, as it was when it was looked at. */
export interface SilentAttempt {
  readonly attemptId: number;
  readonly owner: string;
  readonly committed: number;
}

/** The sweep's port to the database. */
export interface SweepStore {
  /**
   * Running attempts whose connection was reported closed for `closedForSeconds`, or whose node's lease is over.
   * Silence on a live connection is never a reason.
   */
  findSilent(settings: { closedForSeconds: number; limit: number }): Promise<SilentAttempt[]>;
  /**
   * Closes those that still stand as they were seen, by compare-and-set on owner and position: status from the
   * stored exit code, else `disconnected`. Answers what was closed.
   */
  closeSilent(
    silent: readonly SilentAttempt[],
    how: { lease: JobLease; fact: (about: AttemptSummary) => OutboxRow },
  ): Promise<AttemptSummary[]>;
}

/** A build whose machine was suspended or whose network was away comes back within this time, as a rule. */
const closedForSeconds = 300;
const sweptAtOnceMax = 100;
const periodMs = 10_000;

/** Closes attempts that nobody will end: a crashed Bazel, a front door that went away. A later batch reopens them. */
export function sweepJob(
  store: SweepStore,
  world: { clock: Clock; random: Random; log: Log; closedForSeconds?: number },
): Job {
  return {
    name: "sweep",
    periodMs,
    run: async (lease) => {
      const silent = await store.findSilent({
        closedForSeconds: world.closedForSeconds ?? closedForSeconds,
        limit: sweptAtOnceMax,
      });
      if (silent.length === 0) return;
      const fact = (about: AttemptSummary): OutboxRow => invocationFact("disconnected", about, world);
      const closed = await store.closeSilent(silent, { lease, fact });
      world.log.info("swept attempts that nobody writes to", { closed: closed.length });
    },
  };
}
