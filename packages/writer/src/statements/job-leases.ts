import { MillraceError } from "@millrace/base/errors";
import type { Lane, LaneTransaction } from "@millrace/db/lane";
import { jobLeases } from "@millrace/db/schema/job-leases";
import { and, eq, sql } from "drizzle-orm";
import type { JobLease, JobLeases } from "../jobs.ts";

/** Leases as rows. An advisory lock of a session would be lost, unnoticed, behind a pooler. */
export function pgJobLeases(lane: Lane): JobLeases {
  return {
    acquire: ({ name, holder, forMs }) =>
      lane.transact(async ({ orm }) => {
        const leaseUntil = sql`now() + make_interval(secs => ${forMs} / 1000.0)`;
        const [row] = await orm
          .insert(jobLeases)
          .values({ name, holder, epoch: 1, leaseUntil })
          .onConflictDoUpdate({
            target: jobLeases.name,
            set: {
              holder,
              leaseUntil,
              epoch: sql`${jobLeases.epoch} + case when ${jobLeases.holder} = ${holder} then 0 else 1 end`,
            },
            setWhere: sql`${jobLeases.holder} = ${holder} or ${jobLeases.leaseUntil} < now()`,
          })
          .returning({ epoch: jobLeases.epoch });
        return row === undefined ? undefined : { name, holder, epoch: row.epoch };
      }),
    giveUp: (lease) =>
      lane.transact(async ({ orm }) => {
        await orm.update(jobLeases).set({ leaseUntil: sql`now()` }).where(isHeldBy(lease));
      }),
  };
}

/** Keeps the lease from changing hands before the transaction ends; fails when it has already. */
export async function holdLease(tx: LaneTransaction, lease: JobLease): Promise<void> {
  const rows = await tx.orm
    .select({ epoch: jobLeases.epoch })
    .from(jobLeases)
    .where(isHeldBy(lease))
    .for("share");
  if (rows.length > 0) return;
  const message = `another process runs the job ${lease.name} by now`;
  throw new MillraceError({ remedy: "retry", code: "lease-lost", message });
}

function isHeldBy(lease: JobLease) {
  return and(
    eq(jobLeases.name, lease.name),
    eq(jobLeases.holder, lease.holder),
    eq(jobLeases.epoch, lease.epoch),
  );
}
