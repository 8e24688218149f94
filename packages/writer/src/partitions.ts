import type { Log } from "@millrace/base/log";
import type { Job, JobLease } from "./jobs.ts";

/** The partition job's port to the database. */
export interface PartitionStore {
  /** Creates the daily partitions that are missing up to 14 days ahead; how many those were. */
  createMissing(lease: JobLease): Promise<number>;
  /** Days from today on for which every table has a partition. */
  countDaysAhead(): Promise<number>;
}

const periodMs = 600_000;

/** Below this somebody should look: at 0 nothing can be committed. */
const daysAheadMin = 3;

/** Keeps daily partitions ahead of the calendar. */
export function partitionJob(
  store: PartitionStore,
  world: { log: Log; daysAhead: (days: number) => void },
): Job {
  return {
    name: "partitions",
    periodMs,
    run: async (lease) => {
      try {
        const created = await store.createMissing(lease);
        if (created > 0) world.log.info("created partitions", { created });
      } finally {
        const days = await store.countDaysAhead();
        world.daysAhead(days);
        if (days < daysAheadMin) world.log.error("partitions run out", { days });
      }
    },
  };
}
