import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { type Clock, delay, systemClock } from "@millrace/base/clock";
import { MillraceError } from "@millrace/base/errors";
import { type NatsUser, natsConfigText } from "./nats-config.ts";
import { type Exit, type Service, sendSignal, spawnService } from "./spawn-service.ts";

/** Our sealed batches are smaller by a margin; the server warns above this. */
const payloadBytesMax = 8 * 1024 * 1024;

const pollDelayMs = 10;
const readyMaxMs = 60_000;
const stopMaxMs = 10_000;
const linesKept = 20;

export interface NatsServerOptions {
  /** Millrace's own directory; configuration and JetStream's files go into `nats` below it. */
  readonly dataDir: string;
  /** On 127.0.0.1; 0 takes a free one. */
  readonly port: number;
  readonly onLine: (line: string) => void;
  /** Empty or absent: no authentication. */
  readonly users?: readonly NatsUser[];
  /** For tests: if this process dies, the data goes with it. */
  readonly ephemeral?: boolean;
  readonly clock?: Clock;
}

export interface NatsServer extends Service {
  /** Without credentials. */
  readonly url: string;
  readonly port: number;
  /** Resolves when the server has ended. */
  stop(): Promise<Exit>;
}

/**
 * Starts a nats-server with JetStream on `dataDir` and waits until it answers. It survives kill -9. Throws
 * `MillraceError` with the server's last lines when it does not come up, or when there is no nats-server.
 */
export async function startNatsServer(options: NatsServerOptions): Promise<NatsServer> {
  const clock = options.clock ?? systemClock;
  const directory = join(options.dataDir, "nats");
  const portsDir = join(directory, "ports");
  await rm(portsDir, { recursive: true, force: true });
  await mkdir(portsDir, { recursive: true });
  const configFile = join(directory, "nats.conf");
  const config = natsConfigText({
    port: options.port === 0 ? -1 : options.port,
    storeDir: join(directory, "jetstream"),
    portsDir,
    payloadBytesMax,
    users: options.users ?? [],
  });
  await writeFile(configFile, config, { mode: 0o600 });
  const { service, program, lines } = await launch(options, configFile);
  const portsFile = join(portsDir, `${basename(program)}_${service.pid}.ports`);
  const port = await waitUntilReady({ service, portsFile, clock });
  if (port === undefined) throw failure(`the server does not start: ${lines.join(" | ")}`);
  return { ...service, port, url: `nats://127.0.0.1:${port}`, stop: () => stopServer(service, clock) };
}

async function launch(options: NatsServerOptions, configFile: string) {
  const program = natsServerProgram();
  const lines: string[] = [];
  try {
    const service = await spawnService({
      program,
      args: ["--config", configFile],
      onLine: (line) => {
        lines.push(line);
        if (lines.length > linesKept) lines.shift();
        options.onLine(line);
      },
      onOurDeath: options.ephemeral
        ? { signal: "KILL", removeDirectories: [options.dataDir] }
        : { signal: "INT" },
    });
    return { service, program, lines };
  } catch (cause) {
    throw failure(`${program} cannot be started; install NATS Server 2.9 or newer`, cause);
  }
}

/** The one the set-up linked into the checkout, else by name. */
function natsServerProgram(): string {
  const ours = join(import.meta.dirname, "../../../../.millrace/tools/bin/nats-server");
  return existsSync(ours) ? ours : "nats-server";
}

/** The port it listens on, or undefined when it ended or took too long. */
async function waitUntilReady(start: {
  readonly service: Service;
  readonly portsFile: string;
  readonly clock: Clock;
}): Promise<number | undefined> {
  let ended = false;
  void start.service.exited.then(() => {
    ended = true;
  });
  const deadlineMs = start.clock.monotonic() + readyMaxMs;
  while (!ended && start.clock.monotonic() < deadlineMs) {
    const port = await portIn(start.portsFile);
    if (port !== undefined && (await answers(port))) return port;
    await delay(start.clock, pollDelayMs);
  }
  if (!ended) sendSignal(start.service.pid, "SIGKILL");
  return undefined;
}

/** `{"nats":["nats://127.0.0.1:4222"]}`, written once the server listens; half-written it does not parse. */
async function portIn(portsFile: string): Promise<number | undefined> {
  try {
    const ports: { nats?: string[] } = JSON.parse(await readFile(portsFile, "utf8"));
    const url = ports.nats?.[0];
    return url === undefined ? undefined : Number(new URL(url).port);
  } catch {
    return undefined;
  }
}

/** A server that is ready greets every connection with an INFO line. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const finish = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("error", () => finish(false)).once("close", () => finish(false));
    createInterface({ input: socket })
      .on("error", () => {})
      .once("line", (line) => finish(line.startsWith("INFO ")));
  });
}

async function stopServer(service: Service, clock: Clock): Promise<Exit> {
  sendSignal(service.pid, "SIGINT");
  const cancel = clock.after(stopMaxMs, () => sendSignal(service.pid, "SIGKILL"));
  const exit = await service.exited;
  cancel();
  return exit;
}

function failure(message: string, cause?: unknown): MillraceError {
  return new MillraceError({ remedy: "retry", code: "nats-start", message: `NATS: ${message}.`, cause });
}
