import type { Clock } from "@millrace/base/clock";
import { every } from "@millrace/base/clock";
import { errorText } from "@millrace/base/errors";
import type { Stoppable } from "@millrace/base/lifecycle";
import type { Log } from "@millrace/base/log";

/** The right to run a job. A transaction of the job that finds another epoch in the table is rolled back. */
export interface JobLease {
  readonly name: string;
  readonly holder: string;
  readonly epoch: number;
}

/** Housekeeping that one process at a time does. */
export interface Job {
  readonly name: string;
  readonly periodMs: number;
  run(lease: JobLease): Promise<void>;
}

export interface JobLeases {
  /** Takes or renews the lease; undefined while another holder's is valid. */
  acquire(job: { name: string; holder: string; forMs: number }): Promise<JobLease | undefined>;
  /** Lets the next holder start at once. */
  giveUp(lease: JobLease): Promise<void>;
}

/** A lease outlives so many periods, so that a slow run does not lose it. */
const periodsPerLease = 3;

/** Runs each job every period in the process that holds its lease. A run that fails is logged and comes again. */
export function startJobs(
  jobs: readonly Job[],
  world: { leases: JobLeases; holder: string; clock: Clock; log: Log },
): Stoppable {
  const held = new Map<string, JobLease>();
  const runOnce = async (job: Job): Promise<void> => {
    try {
      const lease = await world.leases.acquire({
        name: job.name,
        holder: world.holder,
        forMs: job.periodMs * periodsPerLease,
      });
      if (lease === undefined) {
        held.delete(job.name);
        return;
      }
      held.set(job.name, lease);
      await job.run(lease);
    } catch (error) {
      world.log.warn("a housekeeping job failed", { job: job.name, error: errorText(error) });
    }
  };
  const running = new Set<Promise<void>>();
  const track = (job: Job): Promise<void> => {
    const run = runOnce(job).finally(() => running.delete(run));
    running.add(run);
    return run;
  };
  const stops = jobs.map((job) => {
    void track(job);
    return every(world.clock, job.periodMs, () => track(job));
  });
  return {
    name: "jobs",
    stop: async () => {
      for (const stop of stops) stop();
      await Promise.allSettled(running);
      await Promise.allSettled([...held.values()].map((lease) => world.leases.giveUp(lease)));
    },
  };
}
