import { systemClock } from "@millrace/base/clock";
import { processEnvironment, readSettings } from "@millrace/base/config";
import { errorText } from "@millrace/base/errors";
import { killingFailPoints } from "@millrace/base/fail-points";
import { runUntilSignal, type Stoppable } from "@millrace/base/lifecycle";
import { createLog, type Log } from "@millrace/base/log";
import { createMetrics } from "@millrace/base/metrics";
import { systemRandom } from "@millrace/base/random";
import { pickBlobSettings } from "@millrace/blobs/settings";
import { busWhenConnected } from "./front-door/bus-when-connected.ts";
import { FrontDoor } from "./front-door/front-door.ts";
import { frontDoorMetrics } from "./front-door/front-door-metrics.ts";
import { keepLease } from "./front-door/lease.ts";
import { OpsServer } from "./front-door/ops-server.ts";
import { piscinaThreads } from "./front-door/piscina-threads.ts";
import { checkReach } from "./front-door/reach.ts";
import { ThreadPool } from "./front-door/thread-pool.ts";
import {
  batchMessageBytesMax,
  checkRelations,
  type IngestSettings,
  ingestSettings,
  requestSlackBytes,
} from "./settings.ts";

const threadFile = new URL("./host/thread.ts", import.meta.url);

async function start(settings: IngestSettings, log: Log): Promise<Stoppable[]> {
  const node = systemRandom.uuid();
  const shared = { clock: systemClock, random: systemRandom, log };
  const bus = busWhenConnected({ servers: settings.natsUrl, name: `front door ${node}` }, shared);
  const workers = piscinaThreads({ file: threadFile, threads: settings.workerThreads, log });
  const threads = new ThreadPool(
    { threads: settings.workerThreads, thread: threadSettings(settings, node) },
    { ...shared, run: workers.run },
  );
  threads.start();
  const reach = await checkReach();
  if (!reach.stream || !reach.trailers) log.error("a way below the gRPC library is closed", { ...reach });
  const door = new FrontDoor(doorSettings(settings), {
    ...shared,
    bus,
    ingest: threads,
    reach,
    points: killingFailPoints(settings.failPoint),
  });
  const metrics = createMetrics("ingest");
  const numbers = frontDoorMetrics(metrics, { door, threads });
  const ops = new OpsServer({
    isReady: () => door.isReady,
    metrics: () => {
      numbers.refresh();
      return metrics.text();
    },
    crashThread: settings.failPoints ? (index) => threads.crash(index) : undefined,
  });
  const opsPort = await ops.listen({ host: settings.opsHost, port: settings.opsPort });
  const grpcPort = await door.start();
  const lease = keepLease(node, { ...shared, bus });
  log.info("ingest is ready", { node, grpcPort, opsPort, threads: settings.workerThreads });
  process.send?.({ kind: "ready", grpcPort, opsPort });
  return [
    { name: "bus", stop: () => bus.close() },
    { name: "ops", stop: () => ops.close() },
    { name: "lease", stop: () => lease.leave() },
    { name: "threads", stop: () => workers.close() },
    { name: "front door", stop: () => door.drain() },
  ];
}

function threadSettings(settings: IngestSettings, nodeId: string) {
  return {
    natsUrl: settings.natsUrl,
    nodeId,
    blobs: pickBlobSettings(settings),
    logLevel: settings.logLevel,
    batchEventsMax: settings.batchEventsMax,
    batchBytesMax: settings.batchBytesMax,
    batchDelayMs: settings.batchDelayMs,
    inFlightBatchesMax: settings.inFlightBatchesMax,
    inFlightBytesMax: settings.inFlightBytesMax,
    messageBytesMax: batchMessageBytesMax(settings),
    outageHoldMaxMs: settings.outageHoldMaxMs,
    failPoint: settings.failPoint,
  };
}

function doorSettings(settings: IngestSettings) {
  return {
    grpc: {
      ...settings,
      host: settings.grpcHost,
      port: settings.grpcPort,
      messageBytesMax: settings.messageBytesMax + requestSlackBytes,
    },
    budget: settings,
    outageHoldMaxMs: settings.outageHoldMaxMs,
    drainDeadlineMs: settings.drainDeadlineMs,
  };
}

async function main(): Promise<void> {
  const settings = readSettings(ingestSettings, processEnvironment());
  checkRelations(settings);
  const log = createLog({ name: "ingest", level: settings.logLevel });
  runUntilSignal(await start(settings, log), log);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${errorText(error)}\n`);
  process.exit(1);
}
