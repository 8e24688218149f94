import { hostname } from "node:os";
import { systemClock } from "@millrace/base/clock";
import { processEnvironment, readSettings } from "@millrace/base/config";
import { killingFailPoints } from "@millrace/base/fail-points";
import { runUntilSignal, type Stoppable } from "@millrace/base/lifecycle";
import { createLog } from "@millrace/base/log";
import { createMetrics } from "@millrace/base/metrics";
import { startOpsServer } from "@millrace/base/ops-server";
import { systemRandom } from "@millrace/base/random";
import { loadZstd } from "@millrace/base/zstd";
import { openBlobs } from "@millrace/blobs/open-blobs";
import { connect } from "@millrace/db/connect";
import { openLane } from "@millrace/db/lane";
import { defaultProject } from "@millrace/db/migrate";
import { keyLookupChannel, leaseChannel, lifecycleChannel, writerQueue } from "@millrace/proto/channels";
import { connectBus } from "@millrace/proto/nats-bus";
import { startPackPool } from "./archive/pack-pool.ts";
import { createStorageMetrics, storageJobs } from "./archive/storage-jobs.ts";
import type { WriterFailPoints } from "./failpoints.ts";
import { Inbox } from "./inbox.ts";
import { startJobs } from "./jobs.ts";
import { lookUpKey } from "./keys.ts";
import { renewLease } from "./leases.ts";
import { LifecycleInbox } from "./lifecycle.ts";
import { createWriterMetrics } from "./metrics.ts";
import { natsFactStream } from "./nats-fact-stream.ts";
import { outboxJob, startOutboxRelay } from "./outbox-relay.ts";
import { partitionJob } from "./partitions.ts";
import { writerSettings } from "./settings.ts";
import { startShards } from "./shards.ts";
import { pgArchiveStore } from "./statements/archives.ts";
import { pgDayStore } from "./statements/days.ts";
import { pgJobLeases } from "./statements/job-leases.ts";
import { pgLifecycleStore } from "./statements/lifecycle-rows.ts";
import { pgKeyStore, pgNodeStore } from "./statements/lookups.ts";
import { pgOutboxStore } from "./statements/outbox.ts";
import { pgPartitionStore } from "./statements/partitions.ts";
import { pgCommitStore } from "./statements/pg-commit-store.ts";
import { pgRetentionStore } from "./statements/retention.ts";
import { pgSweepStore } from "./statements/sweep.ts";
import { sweepJob } from "./sweep.ts";
import { endProcess, inboxHandlers, startCommitting } from "./writer.ts";

const settings = readSettings(writerSettings, processEnvironment());
const writer = `${hostname()}-${process.pid}-${Buffer.from(systemRandom.bytes(3)).toString("hex")}`;
const log = createLog({ name: "writer", level: settings.logLevel });
const registry = createMetrics("writer");
const metrics = createWriterMetrics(registry);
const clock = systemClock;
const random = systemRandom;
const points: WriterFailPoints = killingFailPoints(settings.failPoint);

const bus = await connectBus({ servers: settings.natsUrl, name: writer, log });
const onDatabase = { url: settings.databaseUrl, prepare: settings.databasePrepare };
const lookups = connect({ ...onDatabase, max: 2, name: "millrace-writer-lookups" });
const commitLanes = Array.from({ length: settings.connections }, () =>
  openLane({ ...onDatabase, name: "millrace-writer" }),
);
const lifecycleLane = openLane({ ...onDatabase, name: "millrace-writer-lifecycle" });
const jobLane = openLane({ ...onDatabase, name: "millrace-writer-jobs" });
const storageLane = openLane({ ...onDatabase, name: "millrace-writer-storage" });
const storageDatabase = connect({ ...onDatabase, max: 1, name: "millrace-writer-days" });

const inbox = new Inbox(settings, clock);
const committing = startCommitting(
  inbox,
  commitLanes.map((lane) => ({
    store: pgCommitStore(lane, points),
    resumeWithHole: settings.resumeWithHole,
    ...{ clock, random, points, metrics, log },
  })),
  (error) => endProcess(error, log),
);

const lifecycle = new LifecycleInbox(pgLifecycleStore(lifecycleLane));
const handlers = inboxHandlers(inbox, metrics.inboxRefused);
const servedShards = registry.gauge("millrace_writer_shards", "Shards that this writer serves.");
const shards = startShards(handlers, { bus, clock, log, writer, shards: (count) => servedShards.set(count) });

const keys = pgKeyStore(lookups);
const nodes = pgNodeStore(lookups);
const open = { openMode: settings.openMode, openProject: defaultProject };
const channels = [
  bus.serve(lifecycleChannel, { subject: lifecycleChannel.name, queue: writerQueue }, (request) =>
    lifecycle.offer(request),
  ),
  bus.serve(keyLookupChannel, { subject: keyLookupChannel.name, queue: writerQueue }, (request) =>
    lookUpKey(request, { keys, ...open }),
  ),
  bus.serve(leaseChannel, { subject: leaseChannel.name, queue: writerQueue }, (request) =>
    renewLease(request, nodes),
  ),
];

const facts = { outbox: pgOutboxStore(jobLane), stream: natsFactStream(bus.connection), points };
const relay = startOutboxRelay(facts, { clock, log });
const pool = startPackPool();
const daysAhead = registry.gauge("millrace_partition_days_ahead", "Days for which there are partitions.");
const jobs = startJobs(
  [
    sweepJob(pgSweepStore(jobLane), { clock, random, log }),
    partitionJob(pgPartitionStore(jobLane), { log, daysAhead: (days) => daysAhead.set(days) }),
    outboxJob(facts, log),
    ...storageJobs(
      {
        archives: pgArchiveStore(storageLane),
        days: pgDayStore(storageDatabase, storageLane),
        retention: pgRetentionStore(storageLane),
        sql: storageDatabase.sql,
        ...{ blobs: await openBlobs(settings, { random, clock }), zstd: await loadZstd(), pack: pool.pack },
        ...{ points, clock, log, metrics: createStorageMetrics(registry) },
      },
      settings,
    ),
  ],
  { leases: pgJobLeases(jobLane), holder: writer, clock, log },
);

const connections: Stoppable = {
  name: "connections",
  stop: async () => {
    await bus.close();
    const lanes = [...commitLanes, lifecycleLane, jobLane, storageLane];
    await Promise.all([...[...lanes, lookups, storageDatabase].map((one) => one.close()), pool.close()]);
  },
};
const lookupChannels: Stoppable = {
  name: "look-ups",
  stop: async () => void (await Promise.all(channels.map((channel) => channel.stop()))),
};
const parts: Stoppable[] = [connections, committing, relay, jobs, lookupChannels, shards];
if (settings.opsPort !== 0) {
  const at = { host: settings.opsHost, port: settings.opsPort };
  parts.push(await startOpsServer(at, { metrics: registry, unhealthy: () => undefined }));
}
// NATS knows now that these subjects are served.
await bus.connection.flush();
log.info("writer is ready", { writer });
process.send?.({ kind: "ready", writer });
runUntilSignal(parts, log);
