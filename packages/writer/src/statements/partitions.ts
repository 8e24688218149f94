import type { Lane } from "@millrace/db/lane";
import { countDaysAhead, ensurePartitions } from "@millrace/db/partitions";
import type { PartitionStore } from "../partitions.ts";
import { holdLease } from "./job-leases.ts";

export function pgPartitionStore(lane: Lane): PartitionStore {
  return {
    createMissing: (lease) =>
      lane.transact(async (tx) => {
        await holdLease(tx, lease);
        // Rather fail and come again than stand in the way of commits.
        await tx.unsafe("set local lock_timeout = 200");
        return ensurePartitions(tx);
      }),
    countDaysAhead: () => lane.transact((tx) => countDaysAhead(tx)),
  };
}
