import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@millrace/base/clock";
import { noFailPoints } from "@millrace/base/fail-points";
import { silentLog } from "@millrace/base/log";
import { systemRandom } from "@millrace/base/random";
import { loadZstd, type Zstd } from "@millrace/base/zstd";
import type { OwnedBlobStore } from "@millrace/blobs/blob-store";
import { openDiskStore } from "@millrace/blobs/disk-store";
import { connect, type Database } from "@millrace/db/connect";
import { frameMessage } from "@millrace/proto/bep/frames";
import { Carry } from "@millrace/proto/pipeline";
import { type WriterBench, writerBench } from "../database.fixture.ts";
import type { WriterFailPoints } from "../failpoints.ts";
import type { JobLease } from "../jobs.ts";
import { pgArchiveStore } from "../statements/archives.ts";
import { pgDayStore } from "../statements/days.ts";
import { pgJobLeases } from "../statements/job-leases.ts";
import { pgRetentionStore } from "../statements/retention.ts";
import { verifyStorage } from "../verify/verify-storage.ts";
import { readBatchRequest } from "../work.ts";
import { type BatchOptions, batchMessage } from "../works.fixture.ts";
import { compactAttempt } from "./compact.ts";
import { dropPastDays } from "./drop-days.ts";
import { packArchive } from "./pack-archive.ts";

/** A writer's database and blob store, with a clock of its own in the database, and the jobs on it. */
export interface StorageBench {
  readonly bench: WriterBench;
  readonly blobs: OwnedBlobStore;
  readonly zstd: Zstd;
  readonly archives: ReturnType<typeof pgArchiveStore>;
  readonly retention: ReturnType<typeof pgRetentionStore>;
  lease(name: string): Promise<JobLease>;
  /** Commits events `first` … `last` and log lines for them, as the writer does; answers the attempt. */
  commit(batch: TestBatch): Promise<number>;
  compact(attemptId: number, points?: WriterFailPoints): Promise<number>;
  dropDays(points?: WriterFailPoints): Promise<void>;
  /** Everything that `millrace verify --deep` finds. */
  findings(): Promise<string[]>;
  /** Sets the database's clock. */
  setTime(iso: string): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface TestBatch {
  readonly invocation: string;
  readonly attemptId?: number;
  readonly project?: string;
  readonly owner?: string;
  readonly first: number;
  readonly last: number;
  readonly ends?: boolean;
  /** Bytes of each event and log line; the log has one line an event. */
  readonly pieceBytes?: number;
}

/** So little that a build of a few MB becomes several archives. */
const rawBytesMax = 3 * 1024 * 1024;

/** What event `sequence` of an invocation is in these tests. */
export function eventOf(invocation: string, sequence: number, bytes = 40): Buffer {
  return Buffer.from(`event ${sequence} of ${invocation} `.padEnd(bytes, "e"));
}

/** Its line of the log, all of the same length. */
export function lineOf(invocation: string, sequence: number, bytes = 40): Buffer {
  return Buffer.from(`${`${sequence} ${invocation} `.padEnd(bytes - 1, "l").slice(0, bytes - 1)}\n`);
}

export async function storageBench(): Promise<StorageBench> {
  const bench = await writerBench();
  const directory = await mkdtemp(join(tmpdir(), "millrace-storage-"));
  const blobs = await openDiskStore({ directory, random: systemRandom, clock: systemClock });
  const zstd = await loadZstd();
  const { lane } = bench.newContext();
  const days = connect({ url: bench.url, max: 1, name: "test-days" });
  const archives = pgArchiveStore(lane, rawBytesMax);
  const leases = pgJobLeases(lane);
  const lease = async (name: string): Promise<JobLease> => {
    const held = await leases.acquire({ name, holder: "test", forMs: 86_400_000 });
    if (held === undefined) throw new Error("nobody else has it");
    return held;
  };
  const compact = async (attemptId: number, points = noFailPoints): Promise<number> => {
    const pack = (order: Parameters<typeof packArchive>[0]) => packArchive(order, zstd);
    return compactAttempt(attemptId, { store: archives, blobs, points, pack }, await lease("compaction"));
  };
  return {
    ...{ bench, blobs, zstd, archives, retention: pgRetentionStore(lane), lease, compact },
    commit: (batch) => commitBatch(bench, zstd, batch),
    dropDays: async (points = noFailPoints) => {
      const store = pgDayStore(days, lane);
      const ports = {
        store,
        points,
        log: silentLog,
        compact: (id: number) => compact(id),
        daysLeft: () => {},
      };
      await dropPastDays(ports, await lease("days"));
    },
    findings: async () => {
      const found: string[] = [];
      await verifyStorage(
        { sql: bench.database.sql, blobs, zstd },
        {
          ...{ deep: true, clock: systemClock, restFactor: 0 },
          onFinding: (finding) => found.push(`${finding.kind}: ${finding.message}`),
        },
      );
      return found;
    },
    setTime: (iso) => setTime(days, iso),
    [Symbol.asyncDispose]: async () => {
      await days.close();
      await bench[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function commitBatch(bench: WriterBench, zstd: Zstd, batch: TestBatch): Promise<number> {
  const { invocation, first, last, pieceBytes = 40 } = batch;
  const sequences = Array.from({ length: last - first + 1 }, (_, at) => first + at);
  const events = Buffer.concat(
    sequences.map((sequence) => frameMessage(eventOf(invocation, sequence, pieceBytes))),
  );
  const log = Buffer.concat(sequences.map((sequence) => lineOf(invocation, sequence, pieceBytes)));
  const options: BatchOptions = { ...batch, events: await zstd.compress(events, 1) };
  const message = batchMessage(options);
  const lines = { firstByte: (first - 1) * pieceBytes, firstLine: first - 1, lineCount: sequences.length };
  const work = readBatchRequest({
    ...message,
    events: { ...message.events, rawBytes: events.length },
    log: { data: await zstd.compress(log, 1), byteCount: log.length, ...lines },
    carry: Carry.create({ logBytes: last * pieceBytes, logLines: last }),
  });
  const [reply] = await bench.commit(work);
  const committed = reply as { committed?: { opened?: { attemptId?: number } } } | undefined;
  if (committed?.committed === undefined) throw new Error(`not committed: ${JSON.stringify(reply)}`);
  return batch.attemptId ?? committed.committed.opened?.attemptId ?? 0;
}

/**
 * From its first call on `now()` of the database is what it is set to: a function of that name is found before the
 * system's, also by the column default that decides the partition.
 */
async function setTime(database: Database, iso: string): Promise<void> {
  const { sql } = database;
  const [is] = await sql.unsafe("select to_regclass('sim.clock') is not null as there");
  if (is?.there !== true) await putClockIn(database);
  await sql.unsafe("update sim.clock set at = $1::text::timestamptz", [iso]);
}

async function putClockIn({ sql }: Database): Promise<void> {
  await sql.unsafe("create schema sim");
  await sql.unsafe("create table sim.clock as select pg_catalog.now() as at");
  await sql.unsafe(
    "create function sim.now() returns timestamptz language plpgsql stable as $$ begin return (select at from sim.clock); end $$",
  );
  for (const table of ["event_segments", "log_segments"]) {
    await sql.unsafe(
      `alter table ${table} alter column commit_day set default (sim.now() at time zone 'utc')::date`,
    );
  }
  const [name] = await sql.unsafe("select current_database() as name");
  await sql.unsafe(`alter database ${name?.name} set search_path = public, sim, pg_catalog`);
  // The others connect again, and then have it.
  await sql.unsafe(
    "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
  await sql.unsafe("set search_path = public, sim, pg_catalog");
}
