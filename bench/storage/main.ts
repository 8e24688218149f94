/**
 * What a build takes for good: `pnpm bench storage [tiny|real] [builds]`. Uploads the builds through a whole Millrace,
 * archives all of them, drops the day, vacuums, and weighs tables, indexes, TOAST and blobs. One line of JSON.
 */
import { systemClock } from "@millrace/base/clock";
import { noFailPoints } from "@millrace/base/fail-points";
import { silentLog } from "@millrace/base/log";
import { systemRandom } from "@millrace/base/random";
import { openDiskStore } from "@millrace/blobs/disk-store";
import { connect } from "@millrace/db/connect";
import { openLane } from "@millrace/db/lane";
import { ensurePartitions } from "@millrace/db/partitions";
import { compactAttempt } from "@millrace/writer/archive/compact";
import { dropPastDays } from "@millrace/writer/archive/drop-days";
import { startPackPool } from "@millrace/writer/archive/pack-pool";
import { pgArchiveStore } from "@millrace/writer/statements/archives";
import { pgDayStore } from "@millrace/writer/statements/days";
import { pgJobLeases } from "@millrace/writer/statements/job-leases";
import type { LoadPlan } from "../load/load-plan.ts";
import { runInProcesses } from "../load/load-process.ts";
import { reportOf } from "../load/load-report.ts";
import { tableBytes } from "../scenario/database-figures.ts";
import { startMillrace } from "../scenario/millrace.ts";
import { commit } from "../scenario/provenance.ts";
import { type ArchiveShares, archiveShares } from "./archive-shares.ts";

const [asked = "tiny", count = "5000"] = process.argv.slice(2);
const workload = asked === "real" ? "real" : "tiny";
if (asked !== workload) {
  console.error("usage: pnpm bench storage [tiny|real] [builds]");
  process.exit(2);
}
const builds = Number(count);
/** Nothing is archived by the writers themselves meanwhile, nor are the partitions ahead part of what a build takes. */
const environment = { MILLRACE_COMPACT_AFTER_SECONDS: "864000" };
/** So that waits for the disk overlap. */
const atOnce = 8;

/** Today is dropped as well. */
const keepDays = -1;

const millrace = await startMillrace({ keeps: false, environment });
const database = connect({ url: millrace.addresses.databaseUrl, max: 1, name: "bench-storage" });
try {
  const before = await tableBytes(database.sql);
  const { workloadHash, events } = await upload();
  await database.sql.unsafe("vacuum (analyze)");
  const hot = difference(await tableBytes(database.sql), before);
  const compactionSeconds = await compactAndDrop(millrace.addresses.databaseUrl);
  const settled = difference(await tableBytes(database.sql), before);
  const shares = await archiveShares(database);
  console.log(
    JSON.stringify({ ...lineOf({ hot, settled, shares }), workloadHash, events, compactionSeconds }),
  );
} finally {
  await database.close();
  await millrace.stop();
}

async function upload(): Promise<{ workloadHash: string; events: number }> {
  const plan: LoadPlan = {
    ...{ address: millrace.grpcAddress, workload, streams: 20, builds, seconds: undefined, rate: 0 },
    ...{ rampSeconds: 0, warmUpSeconds: 0, log: undefined, apiKey: undefined, share: { index: 0, count: 1 } },
  };
  const { workloadHash, parts } = await runInProcesses(plan, 1);
  const report = reportOf(parts);
  if (report.failed > 0 || report.builds < builds)
    throw new Error(`not all were uploaded: ${report.messages}`);
  return { workloadHash, events: report.eventsAcked };
}

/** As the jobs do it, but without rests. Answers how long the archives took. */
async function compactAndDrop(url: string): Promise<number> {
  const lane = openLane({ url, name: "bench-storage", timeoutMs: 60_000 });
  const days = connect({ url, max: 1, name: "bench-storage-days" });
  const pool = startPackPool();
  try {
    const store = pgArchiveStore(lane);
    const lease = await pgJobLeases(lane).acquire({
      name: "bench-storage",
      holder: "bench",
      forMs: 86_400_000,
    });
    if (lease === undefined) throw new Error("another bench runs on this database");
    const blobs = await openDiskStore({
      ...{ directory: millrace.addresses.blobDirectory, random: systemRandom, clock: systemClock },
    });
    const ports = { store, blobs, points: noFailPoints, pack: pool.pack };
    const started = systemClock.monotonic();
    for (let after = 0, isLast = false; !isLast; ) {
      const page = await store.findUnarchived({ after, endedForSeconds: -1 });
      const rest = [...page.attemptIds];
      const worker = async (): Promise<void> => {
        for (let id = rest.pop(); id !== undefined; id = rest.pop()) await compactAttempt(id, ports, lease);
      };
      await Promise.all(Array.from({ length: atOnce }, worker));
      ({ lookedTo: after, isLast } = page);
    }
    const seconds = (systemClock.monotonic() - started) / 1000;
    const compact = (attemptId: number) => compactAttempt(attemptId, ports, lease);
    const dayPorts = { store: pgDayStore(days, lane), points: noFailPoints, log: silentLog, compact };
    await dropPastDays({ ...dayPorts, daysLeft: () => {} }, lease, keepDays);
    await ensurePartitions(days.sql);
    await days.sql.unsafe("vacuum (analyze)");
    return Math.round(seconds * 10) / 10;
  } finally {
    await pool.close();
    await days.close();
    await lane.close();
  }
}

function difference(
  after: Readonly<Record<string, number>>,
  before: Readonly<Record<string, number>>,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after).map(([name, bytes]) => [name, bytes - (before[name] ?? 0)]),
  );
}

/** Bytes a build: rows are all tables but those of segments; raw and log are what the objects hold of each. */
function lineOf(of: {
  hot: Readonly<Record<string, number>>;
  settled: Readonly<Record<string, number>>;
  shares: ArchiveShares;
}): Record<string, unknown> {
  const perBuild = (bytes: number): number => Math.round(bytes / builds);
  const isSegments = (name: string): boolean => name.endsWith("_segments");
  const rowsOf = (tables: Readonly<Record<string, number>>): number =>
    sum(Object.entries(tables).flatMap(([name, bytes]) => (isSegments(name) ? [] : [bytes])));
  const { raw, log, index } = of.shares;
  const rows = rowsOf(of.settled);
  const tables = Object.entries(of.settled)
    .filter(([name, bytes]) => !isSegments(name) && perBuild(bytes) > 0)
    .map(([name, bytes]) => [name, perBuild(bytes)]);
  return {
    ...{ scenario: "storage", commit: commit(), workload, builds },
    bytesPerBuild: perBuild(rows + raw + log + index),
    ...{ row: perBuild(rows), raw: perBuild(raw), log: perBuild(log), trailer: perBuild(index) },
    beforeCompaction: {
      row: perBuild(rowsOf(of.hot)),
      raw: perBuild(of.hot.event_segments ?? 0),
      log: perBuild(of.hot.log_segments ?? 0),
    },
    tables: Object.fromEntries(tables),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
