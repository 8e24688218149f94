import type { Clock } from "@millrace/base/clock";
import type { LogLine } from "../logs/log-line.ts";
import { type LineSource, readNatsLine, readOwnLine, readPostgresLine } from "../logs/read-lines.ts";
import { startEmbeddedPostgres } from "../services/embedded-postgres.ts";
import { startNatsServer } from "../services/nats-server.ts";
import { type Service, sendSignal } from "../services/spawn-service.ts";
import type { PartSpec, RunningProcess } from "../supervise/part.ts";
import { startOwnProcess } from "./own-process.ts";
import {
  apiEnvironment,
  buildsignalEnvironment,
  type Found,
  ingestEnvironment,
  programFiles,
  type UpPlan,
  writerEnvironment,
} from "./plan.ts";

/** What the parts share. `found` is filled in as they come up, and read when they are started again. */
export interface PartsContext {
  readonly plan: UpPlan;
  readonly found: Found;
  readonly clock: Clock;
  onLine(line: LogLine): void;
}

/** The front door ends streams that nothing is acked on at 10 s; then it closes its connections. */
const ingestStopMaxMs = 20_000;
const writerStopMaxMs = 15_000;
const apiStopMaxMs = 5_000;
/** Handlers may end by themselves for 5 s and have 3 s more when told to. */
const buildsignalStopMaxMs = 12_000;

export function postgresPart(context: PartsContext): PartSpec {
  const { plan, found, clock } = context;
  let port = plan.postgresPort;
  return {
    name: "postgres",
    launch: async () => {
      const onLine = reader(context, { part: "postgres", read: readPostgresLine });
      const server = await startEmbeddedPostgres({ dataDir: plan.dataDir, port, onLine, clock });
      port = server.port;
      found.databaseUrl = server.socketUrl;
      found.databaseTcpUrl = server.url;
      return { ...asProcess(server, "SIGQUIT"), stop: () => server.stop() };
    },
  };
}

export function natsPart(context: PartsContext): PartSpec {
  const { plan, found, clock } = context;
  let port = plan.natsPort;
  return {
    name: "nats",
    launch: async () => {
      const onLine = reader(context, { part: "nats", read: readNatsLine });
      const server = await startNatsServer({ dataDir: plan.dataDir, port, onLine, clock });
      port = server.port;
      found.natsUrl = server.url;
      return { ...asProcess(server, "SIGKILL"), stop: () => server.stop() };
    },
  };
}

export function writerPart(context: PartsContext, nth: number): PartSpec {
  return ownPart(context, {
    name: `writer-${nth}`,
    file: programFiles.writer,
    stopMaxMs: writerStopMaxMs,
    environment: () => writerEnvironment(context.plan, context.found, nth),
    onReady: () => {},
  });
}

export function ingestPart(context: PartsContext): PartSpec {
  return ownPart(context, {
    name: "ingest",
    file: programFiles.ingest,
    stopMaxMs: ingestStopMaxMs,
    environment: () => ingestEnvironment(context.plan, context.found),
    onReady: ({ grpcPort, opsPort }) => {
      context.found.grpcPort = Number(grpcPort);
      context.found.opsPort = Number(opsPort);
    },
  });
}

export function apiPart(context: PartsContext): PartSpec {
  return ownPart(context, {
    name: "api",
    file: programFiles.api,
    stopMaxMs: apiStopMaxMs,
    environment: () => apiEnvironment(context.plan, context.found),
    onReady: ({ httpPort }) => {
      context.found.httpPort = Number(httpPort);
    },
  });
}

export function buildsignalPart(context: PartsContext): PartSpec {
  return ownPart(context, {
    name: "buildsignal",
    file: programFiles.buildsignal,
    stopMaxMs: buildsignalStopMaxMs,
    environment: () => buildsignalEnvironment(context.plan, context.found),
    onReady: () => {},
  });
}

function ownPart(
  context: PartsContext,
  program: {
    readonly name: string;
    readonly file: string;
    readonly stopMaxMs: number;
    readonly environment: () => Readonly<Record<string, string | undefined>>;
    readonly onReady: (ready: Readonly<Record<string, unknown>>) => void;
  },
): PartSpec {
  const { name, file, stopMaxMs } = program;
  const read = reader(context, { part: name, read: readOwnLine });
  return {
    name,
    launch: async (givenUp) => {
      const started = await startOwnProcess(
        { name, file, stopMaxMs, environment: program.environment(), onLine: read, gistOf },
        { clock: context.clock, givenUp },
      );
      program.onReady(started.ready);
      return started;
    },
  };
}

/** The message of a line, with its cause. */
function gistOf(text: string): string {
  const { message, fields } = readOwnLine(text, { part: "", nowMs: 0 });
  return typeof fields.error === "string" ? `${message}: ${fields.error}` : message;
}

function asProcess(service: Service, killSignal: NodeJS.Signals): Omit<RunningProcess, "stop"> {
  return { pid: service.pid, exited: service.exited, kill: () => sendSignal(service.pid, killSignal) };
}

function reader(
  context: PartsContext,
  of: { part: string; read: (text: string, source: LineSource) => LogLine },
): (text: string) => void {
  return (text) => context.onLine(of.read(text, { part: of.part, nowMs: context.clock.now() }));
}
