import { errorText } from "@millrace/base/errors";
import type { Log } from "@millrace/base/log";
import type { WriterFailPoints } from "../failpoints.ts";
import type { Job, JobLease } from "../jobs.ts";
import type { DayPartition, DayStore } from "./day-store.ts";

const periodMs = 600_000;

/** Yesterday's partition stays: a transaction that began before midnight commits into it. */
export const keptDays = 1;

export interface DayPorts {
  readonly store: DayStore;
  readonly points: WriterFailPoints;
  readonly log: Log;
  /** Archives an attempt that has ended; may fail. */
  compact(attemptId: number, lease: JobLease): Promise<unknown>;
  /** Past days that are still there after a run. */
  daysLeft(days: number): void;
}

/** Drops the segments of past days, which are in archives by then; what is not is moved to today first. */
export function dayJob(ports: DayPorts): Job {
  return {
    name: "days",
    periodMs,
    run: async (lease) => {
      await dropPastDays(ports, lease);
      const left = await ports.store.findPast(keptDays);
      ports.daysLeft(new Set(left.map((partition) => partition.day)).size);
    },
  };
}

/** A partition that fails, mostly for a lock that somebody holds, does not keep the others: it is tried again. */
export async function dropPastDays(ports: DayPorts, lease: JobLease, keepDays = keptDays): Promise<void> {
  for (const partition of await ports.store.findPast(keepDays)) {
    try {
      await dropDay(partition, ports, lease);
    } catch (error) {
      const what = { partition: partition.name, error: errorText(error) };
      ports.log.warn("a past day could not be dropped yet", what);
    }
  }
}

/**
 * Empties, detaches, drops. Once more emptied between the last two: whatever reached the partition after the first look
 * would go with it. Each step can be the last one before a crash; the next run goes on where the catalog says.
 */
async function dropDay(partition: DayPartition, ports: DayPorts, lease: JobLease): Promise<void> {
  const { store, points, log } = ports;
  if (partition.state === "attached") await moveAll(partition, ports, lease);
  if (partition.state !== "detached") {
    await store.detach(partition);
    await points.reach("day-detached");
  }
  const detached: DayPartition = { ...partition, state: "detached" };
  await moveAll(detached, ports, lease);
  await store.drop(detached, lease);
  log.info("dropped a day", { partition: partition.name });
}

async function moveAll(partition: DayPartition, ports: DayPorts, lease: JobLease): Promise<void> {
  const { store, log } = ports;
  let moved = 0;
  for (let after = 0; ; ) {
    const leftovers = await store.findLeftovers(partition, after);
    for (const { attemptId, hasEnded } of leftovers) {
      after = attemptId;
      if (hasEnded) await tryToCompact(attemptId, ports, lease);
      // Also after an archive was made: the attempt may have been resumed in between.
      moved += await store.moveLeftovers(partition, { attemptId, lease });
    }
    if (leftovers.length === 0) break;
  }
  if (moved > 0) log.info("moved segments of a past day to today", { partition: partition.name, moved });
}

async function tryToCompact(attemptId: number, ports: DayPorts, lease: JobLease): Promise<void> {
  try {
    await ports.compact(attemptId, lease);
  } catch (error) {
    ports.log.warn("an attempt could not be archived", { attemptId, error: errorText(error) });
  }
}
