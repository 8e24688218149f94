import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { delay, systemClock } from "@millrace/base/clock";
import { noFailPoints } from "@millrace/base/fail-points";
import { silentLog } from "@millrace/base/log";
import { systemRandom } from "@millrace/base/random";
import { Consumers } from "@millrace/buildsignal/queue/consumers";
import { topicSettingsShape } from "@millrace/buildsignal/queue/topic-settings";
import { signalConfigShape } from "@millrace/buildsignal/queue-config";
import { openQueues } from "@millrace/buildsignal/queue-directory";
import { runnerKinds } from "@millrace/buildsignal/runner-kinds";
import { sourceKinds } from "@millrace/buildsignal/source-kinds";
import { noStageMetrics } from "@millrace/buildsignal/stage-metrics";
import { stageSubscriptions } from "@millrace/buildsignal/stages";
import { pgQueue } from "@millrace/buildsignal/store/pg-queue";
import { pgSignalStore } from "@millrace/buildsignal/store/pg-signal-store";
import { startEmbeddedPostgres } from "@millrace/cli/services/embedded-postgres";
import { connect } from "@millrace/db/connect";
import { openLane } from "@millrace/db/lane";
import { migrate } from "@millrace/db/migrate";

/**
 * Builds in flight in one process, polled every 2 s ± 10 % each: how late the polls are, and what they cost the
 * database. `node bench/signal/polling.ts [builds] [seconds]`; prints one JSON line.
 */
const builds = Number(process.argv[2] ?? 10_000);
const seconds = Number(process.argv[3] ?? 30);
const warmUpMs = 6_000;

const dataDir = await mkdtemp(join(tmpdir(), "millrace-bench-signal-"));
const postgres = await startEmbeddedPostgres({ dataDir, port: 0, onLine: () => {}, ephemeral: true });
const url = postgres.socketUrl;
await migrate(url);
const database = connect({ url, max: 2, name: "bench" });
const lanes = [openLane({ url, name: "bench" }), openLane({ url, name: "bench" })];
const queueLane = openLane({ url, name: "bench-queue" });
const finishLane = openLane({ url, name: "bench-finish" });
const observer = connect({ url, max: 1, name: "observer" });

await observer.sql.unsafe(`
insert into signal_queues (name, project_id, latest_request_id, version) values ('main', 'default', 'request/main/1', 1)`);
await observer.sql.unsafe(
  `insert into signal_requests (id, queue, number, uri, strategy, state, build_id, created_at, version)
   select 'request/main/' || n, 'main', n, 'never-ends-' || n, 'full', 'processing', 'main/fake/0/running/' || n, now(), 1
   from generate_series(1, $1::int) n`,
  [builds],
);
await observer.sql.unsafe(
  `insert into signal_builds (id, queue, handle, request_id, status, created_at, deadline_at, version)
   select 'main/fake/0/running/' || n, 'main', 'fake/0/running/' || n, 'request/main/' || n, 'running', now(),
     now() + interval '6 hours', 1
   from generate_series(1, $1::int) n`,
  [builds],
);
await observer.sql.unsafe(
  `insert into signal_deliveries (topic, group_name, partition_key, message_id, payload, published_at, due_at, is_barrier)
   select 'buildsignal', 'millrace-buildsignal', id, id, jsonb_build_object('id', id, 'queue_name', 'main'), now(),
     now() + random() * interval '2 seconds', true
   from signal_builds where $1::int > 0`,
  [builds],
);
await observer.sql.unsafe(`
insert into signal_partitions (topic, group_name, partition_key, head_id, next_due)
select topic, group_name, partition_key, id, due_at from signal_deliveries`);
await observer.sql.unsafe(
  "vacuum analyze signal_deliveries, signal_partitions, signal_builds, signal_requests",
);

const world = { clock: systemClock, random: systemRandom, log: silentLog };
const config = signalConfigShape.parse({ queues: { main: { runner: { kind: "fake" } } } });
const queues = openQueues(config, {
  runners: runnerKinds,
  sources: sourceKinds,
  world: { ...world, secret: () => undefined },
});
const store = pgSignalStore({ ...world, database, lanes, onPublished: () => consumers.wake() });
const context = { ...world, store, queues, points: noFailPoints, metrics: noStageMetrics };
const lateness: number[] = [];
const consumers: Consumers = new Consumers(
  stageSubscriptions(context, () => topicSettingsShape.parse({ concurrency: 1_000 })),
  {
    ...world,
    queue: pgQueue({ claims: queueLane, finishes: finishLane }),
    metrics: { handedOver: ({ lateMs }) => lateness.push(lateMs), ended: () => {}, exhausted: () => {} },
    fail: (error) => {
      throw error;
    },
  },
);

/** CPU time of all the server's processes, in milliseconds; 0 where there is no /proc. */
async function readServerCpuMs(): Promise<number> {
  const rows = await observer.sql.unsafe("select pid from pg_stat_activity");
  const times = rows.map(async ({ pid }) => {
    const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1]?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  });
  const settled = await Promise.allSettled(times);
  return settled.reduce((sum, one) => sum + (one.status === "fulfilled" ? one.value : 0), 0);
}

async function readCounters() {
  const [row] = await observer.sql.unsafe(`
    select (select sum(xact_commit)::bigint from pg_stat_database) as commits,
      (select sum(n_tup_upd)::bigint from pg_stat_user_tables) as updated,
      (pg_current_wal_lsn() - '0/0')::bigint as wal_bytes`);
  const { user, system } = process.cpuUsage();
  return {
    commits: Number(row?.commits),
    updated: Number(row?.updated),
    walBytes: Number(row?.wal_bytes),
    cpuMs: (user + system) / 1_000,
    serverCpuMs: await readServerCpuMs(),
  };
}

consumers.wake();
await delay(systemClock, warmUpMs);
lateness.length = 0;
const before = await readCounters();
const startedMs = systemClock.monotonic();
await delay(systemClock, seconds * 1_000);
const after = await readCounters();
const tookSeconds = (systemClock.monotonic() - startedMs) / 1_000;
const sorted = [...lateness].sort((a, b) => a - b);
const at = (part: number): number => Math.round(sorted[Math.floor(sorted.length * part)] ?? 0);
await consumers.stop();
console.log(
  JSON.stringify({
    builds,
    pollsPerSecond: Math.round(sorted.length / tookSeconds),
    lateMs: { p50: at(0.5), p99: at(0.99), max: Math.round(sorted.at(-1) ?? 0) },
    transactionsPerSecond: Math.round((after.commits - before.commits) / tookSeconds),
    rowUpdatesPerPoll: Number(((after.updated - before.updated) / sorted.length).toFixed(2)),
    walBytesPerPoll: Math.round((after.walBytes - before.walBytes) / sorted.length),
    ownCpuPercent: Math.round((after.cpuMs - before.cpuMs) / tookSeconds / 10),
    serverCpuMicrosecondsPerPoll: Math.round(
      ((after.serverCpuMs - before.serverCpuMs) * 1_000) / sorted.length,
    ),
    serverCpuPercent: Math.round((after.serverCpuMs - before.serverCpuMs) / tookSeconds / 10),
  }),
);
await Promise.all([...lanes, queueLane, finishLane].map((lane) => lane.close()));
await Promise.all([database.close(), observer.close()]);
await postgres.stop("immediate");
await rm(dataDir, { recursive: true, force: true });
