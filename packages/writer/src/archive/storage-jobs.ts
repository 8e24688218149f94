import type { Clock } from "@millrace/base/clock";
import type { Log } from "@millrace/base/log";
import type { Metrics } from "@millrace/base/metrics";
import type { OwnedBlobStore } from "@millrace/blobs/blob-store";
import type { WriterFailPoints } from "../failpoints.ts";
import type { Job } from "../jobs.ts";
import { type FindingKind, findingKinds } from "../verify/finding.ts";
import { verifyJob } from "../verify/verify-job.ts";
import type { Storage } from "../verify/verify-storage.ts";
import type { ArchiveStore } from "./archive-store.ts";
import { compactAttempt } from "./compact.ts";
import { compactionJob } from "./compaction-job.ts";
import type { DayStore } from "./day-store.ts";
import { dayJob } from "./drop-days.ts";
import type { PackedArchive, PackOrder } from "./pack-archive.ts";
import { pruneJob } from "./prune-blobs.ts";
import { retentionJob } from "./retention-job.ts";
import type { RetentionStore } from "./retention-store.ts";

/** What the jobs on stored builds count. */
export interface StorageMetrics {
  archived(archives: number): void;
  archiveFailed(): void;
  waiting(attempts: number): void;
  daysLeft(days: number): void;
  findings(kind: FindingKind, count: number): void;
  verified(): void;
}

export function createStorageMetrics(metrics: Metrics): StorageMetrics {
  const made = metrics.counter("millrace_archives_total", "Archives written and verified.");
  const failed = metrics.counter("millrace_archive_failures_total", "Attempts that could not be archived.");
  const waiting = metrics.gauge("millrace_archives_waiting", "Ended attempts that wait for their archive.");
  const days = metrics.gauge("millrace_uncompacted_days", "Past days whose segments are not dropped yet.");
  const found = metrics.gauge("millrace_verify_findings", "Findings of the last verification.", ["kind"]);
  const runs = metrics.counter("millrace_verify_runs_total", "Verifications that came to their end.");
  return {
    archived: (archives) => made.inc(archives),
    archiveFailed: () => failed.inc(),
    waiting: (attempts) => waiting.set(attempts),
    daysLeft: (left) => days.set(left),
    findings: (kind, count) => found.set({ kind }, count),
    verified: () => runs.inc(),
  };
}

/** For tests. */
export const noStorageMetrics: StorageMetrics = {
  archived: () => {},
  archiveFailed: () => {},
  waiting: () => {},
  daysLeft: () => {},
  findings: () => {},
  verified: () => {},
};

export interface StoragePorts extends Omit<Storage, "blobs"> {
  readonly archives: ArchiveStore;
  readonly days: DayStore;
  readonly retention: RetentionStore;
  readonly blobs: OwnedBlobStore;
  readonly points: WriterFailPoints;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: StorageMetrics;
  pack(order: PackOrder): Promise<PackedArchive>;
}

/** Housekeeping of what is stored: archives, past days, retention, pruning, verification. */
export function storageJobs(ports: StoragePorts, settings: { compactAfterSeconds: number }): Job[] {
  const { clock, log, points, blobs, metrics } = ports;
  const compaction = { store: ports.archives, blobs, points, pack: ports.pack };
  for (const kind of findingKinds) metrics.findings(kind, 0);
  return [
    compactionJob(compaction, {
      ...{ clock, log, endedForSeconds: settings.compactAfterSeconds },
      archived: metrics.archived,
      failed: metrics.archiveFailed,
      waiting: metrics.waiting,
    }),
    dayJob({
      ...{ store: ports.days, points, log, daysLeft: metrics.daysLeft },
      compact: (attemptId, lease) => compactAttempt(attemptId, compaction, lease),
    }),
    retentionJob({ store: ports.retention, blobs, clock, log }),
    pruneJob({ store: ports.retention, blobs, clock, log }),
    verifyJob(ports, { clock, log, found: metrics.findings, done: metrics.verified }),
  ];
}
