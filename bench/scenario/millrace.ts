import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { delay, systemClock } from "@millrace/base/clock";
import { systemRandom } from "@millrace/base/random";
import { isPortFree } from "@millrace/cli/services/free-port";
import { isAlive, type Service, sendSignal, spawnService } from "@millrace/cli/services/spawn-service";
import { type Addresses, findRunning, readLastState } from "@millrace/cli/up/running-state";

/** A Millrace with all its processes, on a directory of its own. */
export interface Millrace {
  readonly dataDir: string;
  readonly addresses: Addresses;
  /** `host:port` of the front door. */
  readonly grpcAddress: string;
  /** Of /metrics of each process that has one, by its name. */
  readonly metricsUrls: Readonly<Record<string, string>>;
  /** Process numbers now, by name: `up`, `postgres`, `nats`, `writer-1`, …, `ingest`, `api`. */
  pids(): Readonly<Record<string, number>>;
  /** Its last lines. */
  log(): string;
  /** Ends it, and removes the directory unless it is kept. */
  stop(): Promise<void>;
}

const program = path.resolve(import.meta.dirname, "../../packages/cli/src/main.ts");
const startMaxMs = 120_000;
const stopMaxMs = 60_000;
const pollDelayMs = 50;
const logLinesMax = 400;
const writers = ["writer-1", "writer-2"] as const;

/** Starts a Millrace with the settings it is shipped with, on free ports; resolves when it is ready. */
export async function startMillrace(of: {
  readonly keeps: boolean;
  /** A directory that exists, instead of a new one. It is kept in any case. */
  readonly dataDir?: string;
  /** Of the front door, instead of a free one. */
  readonly grpcPort?: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** Each line that one of its processes writes. */
  readonly onLine?: (line: string) => void;
}): Promise<Millrace> {
  const dataDir = of.dataDir ?? (await mkdtemp(path.join(tmpdir(), "millrace-bench-")));
  const keeps = of.keeps || of.dataDir !== undefined;
  const grpcPort = String(of.grpcPort ?? 0);
  const lines: string[] = [];
  const writerOpsPort = await freePorts(writers.length);
  const service = await spawnService({
    program: process.execPath,
    args: [program, "up", "--data-dir", dataDir, "--grpc-port", grpcPort, "--http-port", "0", "--json"],
    environment: { HOME: dataDir, MILLRACE_WRITER_OPS_PORT: String(writerOpsPort), ...of.environment },
    onLine: (line) => {
      of.onLine?.(line);
      lines.push(line);
      if (lines.length > logLinesMax) lines.shift();
    },
    onOurDeath: { signal: "TERM" },
  });
  const addresses = await ready({ service, dataDir, lines, keeps });
  const pids = (): Record<string, number> => {
    const processes = Object.entries(readLastState(dataDir)?.processes ?? {});
    return { up: service.pid, ...Object.fromEntries(processes.map(([name, { pid }]) => [name, pid])) };
  };
  const writerUrls = writers.map((name, nth) => [name, `http://127.0.0.1:${writerOpsPort + nth}/metrics`]);
  return {
    dataDir,
    addresses,
    grpcAddress: `127.0.0.1:${new URL(addresses.grpcUrl).port}`,
    metricsUrls: { ingest: `${addresses.opsUrl}/metrics`, ...Object.fromEntries(writerUrls) },
    pids,
    log: () => lines.join("\n"),
    stop: async () => {
      await end(service);
      if (!keeps) await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function ready(of: {
  service: Service;
  dataDir: string;
  lines: readonly string[];
  keeps: boolean;
}): Promise<Addresses> {
  const untilMs = systemClock.monotonic() + startMaxMs;
  while (systemClock.monotonic() < untilMs && isAlive(of.service.pid)) {
    const addresses = findRunning(of.dataDir);
    if (addresses !== undefined) return addresses;
    await delay(systemClock, pollDelayMs);
  }
  await end(of.service);
  if (!of.keeps) await rm(of.dataDir, { recursive: true, force: true, maxRetries: 5 });
  throw new Error(`millrace up did not become ready:\n${of.lines.join("\n")}`);
}

/** Kills them at once, as the loss of the machine would; resolves when they are gone. */
export async function killAll(pids: readonly number[]): Promise<void> {
  for (const pid of pids) sendSignal(pid, "SIGKILL");
  while (pids.some(isAlive)) await delay(systemClock, pollDelayMs);
}

async function end(service: Service): Promise<void> {
  sendSignal(service.pid, "SIGTERM");
  const late = delay(systemClock, stopMaxMs).then(() => sendSignal(service.pid, "SIGKILL"));
  await Promise.race([service.exited, late]);
  await service.exited;
}

/** Below those that systems give to whoever asks for any: another program could get one of those meanwhile. */
const portMin = 20_000;
const portMax = 30_000;

/** The first of `count` free ports in a row: writers take one after the other. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = portMin + Math.floor(systemRandom.fraction() * (portMax - portMin));
    const all = Array.from({ length: count }, (_, nth) => isPortFree(first + nth));
    if ((await Promise.all(all)).every(Boolean)) return first;
  }
}
