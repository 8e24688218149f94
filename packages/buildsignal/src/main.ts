import { hostname } from "node:os";
import { systemClock } from "@millrace/base/clock";
import { processEnvironment, readSettings } from "@millrace/base/config";
import { errorText } from "@millrace/base/errors";
import { killingFailPoints } from "@millrace/base/fail-points";
import { runUntilSignal, type Stoppable } from "@millrace/base/lifecycle";
import { createLog } from "@millrace/base/log";
import { createMetrics } from "@millrace/base/metrics";
import { startOpsServer } from "@millrace/base/ops-server";
import { systemRandom } from "@millrace/base/random";
import { connect } from "@millrace/db/connect";
import { openLane } from "@millrace/db/lane";
import { signalCommandChannel, signalGroup } from "@millrace/proto/channels";
import { connectBus } from "@millrace/proto/nats-bus";
import { type CommandParts, runCommand } from "./commands.ts";
import { withGauges } from "./gauge-metrics.ts";
import { startHousekeeping } from "./housekeeping.ts";
import { LiveQueues } from "./live-queues.ts";
import { Consumers } from "./queue/consumers.ts";
import { createQueueMetrics } from "./queue/metrics.ts";
import { openQueues } from "./queue-directory.ts";
import { readSecrets, readSignalConfig } from "./read-config.ts";
import { runnerKinds } from "./runner-kinds.ts";
import { buildsignalSettings } from "./settings.ts";
import { sourceKinds } from "./source-kinds.ts";
import { createStageMetrics } from "./stage-metrics.ts";
import { stageSubscriptions } from "./stages.ts";
import { pgGates } from "./store/pg-gates.ts";
import { readGauges } from "./store/pg-gauges.ts";
import { pgLetters } from "./store/pg-letters.ts";
import { pruneOld } from "./store/pg-prune.ts";
import { pgQueue } from "./store/pg-queue.ts";
import { pgQueueConfigs } from "./store/pg-queue-configs.ts";
import { pgSignalStore } from "./store/pg-signal-store.ts";
import { startWaking } from "./wake.ts";

/** Finished messages that came once are kept so long. */
const onceKeptMs = 7 * 86_400_000;

const settings = readSettings(buildsignalSettings, processEnvironment());
const self = `${hostname()}-${process.pid}-${Buffer.from(systemRandom.bytes(3)).toString("hex")}`;
const log = createLog({ name: "buildsignal", level: settings.logLevel });
const registry = createMetrics("buildsignal");
const world = { clock: systemClock, random: systemRandom, log };
const points = killingFailPoints(settings.failPoint);

const config = await readSignalConfig(settings.configFile);
const secrets = await readSecrets(settings.secretsFile);
const queueParts = {
  runners: runnerKinds,
  sources: sourceKinds,
  world: { ...world, secret: (name: string) => secrets.get(name) },
};
const fileQueues = openQueues(config, queueParts);

const bus = await connectBus({ servers: settings.natsUrl, name: self, log });
const url = settings.databaseUrl;
const reads = connect({ url, max: 2, name: "millrace-buildsignal-reads" });
const lanes = Array.from({ length: settings.connections }, () =>
  openLane({ url, name: "millrace-buildsignal" }),
);
const queueLane = openLane({ url, name: "millrace-buildsignal-queue" });
const finishLane = openLane({ url, name: "millrace-buildsignal-finish" });

const onPublished = (): void => waking.published();
const store = pgSignalStore({ ...world, database: reads, lanes, onPublished });
const queue = pgQueue({ claims: queueLane, finishes: finishLane });
const configs = pgQueueConfigs(queueLane);
const queues = new LiveQueues({ file: fileQueues, parts: queueParts, store: configs, log });
const context = { ...world, store, queues: queues.directory, points, metrics: createStageMetrics(registry) };
const consumers = new Consumers(
  stageSubscriptions(
    { ...context, lookForQueue: (name) => queues.lookFor(name) },
    (stage) => config.topics[stage],
  ),
  {
    ...world,
    queue,
    metrics: createQueueMetrics(registry),
    fail: (error) => {
      log.error("a broken invariant ends the process", { error: errorText(error) });
      process.exit(1);
    },
  },
);
const reload = (): void => {
  queues.reload().catch((error: unknown) => {
    log.warn("the queues of the API were not read again", { error: errorText(error) });
  });
};
const waking = startWaking(bus, { self, clock: systemClock, wake: () => consumers.wake(), reload });

const given = Object.entries(config.queues).map(([name, one]) => ({
  name,
  project: one.project,
  config: one,
}));
await configs.showFile(given);
await queues.reload();

const commandParts: CommandParts = {
  context: { ...context, who: "command" },
  letters: pgLetters(queueLane, onPublished),
  gates: pgGates(queueLane, onPublished),
  onConfigured: () => waking.configured(),
  configs,
  queues,
};
const at = { subject: signalCommandChannel.name, queue: signalGroup };
const commands = bus.serve(signalCommandChannel, at, (command) => runCommand(command, commandParts));
const kept = { letters: settings.keepLettersDays, log: settings.keepLogDays };
const housekeeping = startHousekeeping(
  { once: () => queue.pruneDone(onceKeptMs), old: () => pruneOld(queueLane, kept) },
  world,
);

const connections: Stoppable = {
  name: "connections",
  stop: async () => {
    await bus.close();
    await Promise.all([...lanes, queueLane, finishLane].map((lane) => lane.close()));
    await reads.close();
  },
};
const parts: Stoppable[] = [
  connections,
  housekeeping,
  waking,
  consumers,
  { name: "commands", stop: () => commands.stop() },
];
if (settings.opsPort !== 0) {
  const metrics = withGauges(registry, () => readGauges(reads));
  const opsAt = { host: settings.opsHost, port: settings.opsPort };
  parts.push(await startOpsServer(opsAt, { metrics, unhealthy: () => undefined }));
}
consumers.wake();
log.info("build-signal controller is ready", { self, queues: [...queues.directory.keys()] });
process.send?.({ kind: "ready", self });
runUntilSignal(parts, log);
