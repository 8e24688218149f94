import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { delay, systemClock } from "@millrace/base/clock";
import { isAlive, type Service, sendSignal, spawnService } from "@millrace/cli/services/spawn-service";
import { type Addresses, readLastState } from "@millrace/cli/up/running-state";
import { connect, type Database } from "@millrace/db/connect";
import { waitFor } from "./wait-for.ts";

/** A Millrace started by `millrace up`, with all its processes. */
export interface Cluster {
  readonly addresses: Addresses;
  /** `host:port` of the front door. */
  readonly grpcAddress: string;
  readonly database: Database;
  /** Process number of a child that runs now: `postgres`, `nats`, `writer-1`, …, `ingest`, `api`. */
  pid(name: string): number;
  /** Process numbers of all children that run now, by name. */
  pids(): Readonly<Record<string, number>>;
  /** Sends a signal to a child; answers the number of the process that got it. */
  kill(name: string, signal: NodeJS.Signals): number;
  /** Stops a child with all processes it has started, as if its machine had stalled; the answer lets them go on. */
  freeze(name: string): () => void;
  /** Waits until supervision has put another process in the place of `pid`. */
  waitForSuccessor(name: string, pid: number): Promise<void>;
  /** GET on the API. */
  get(pathname: string): Promise<Response>;
  /** The last lines of its log, for the message of a failed test. */
  log(): string;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** Use PostgreSQL, NATS and blobs of this one: a second node. */
  readonly besides?: Cluster;
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Each line that one of its processes writes. */
  readonly onLine?: (line: string) => void;
}

const program = path.resolve(import.meta.dirname, "../../packages/cli/src/main.ts");
const startMaxMs = 120_000;
const stopMaxMs = 60_000;
const logLinesMax = 400;

/** Starts a Millrace on a directory of its own and on free ports; resolves when it is ready. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "millrace-e2e-"));
  const lines: string[] = [];
  const service = await spawnService({
    program: process.execPath,
    args: [program, "up", "--data-dir", dataDir, ...portArgs, ...placeArgs(options), ...(options.args ?? [])],
    environment: { HOME: dataDir, MILLRACE_FAIL_POINTS: "true", ...options.environment },
    onLine: (line) => {
      options.onLine?.(line);
      lines.push(line);
      if (lines.length > logLinesMax) lines.shift();
    },
    onOurDeath: { signal: "TERM" },
  });
  const addresses = await waitFor(
    "millrace up becomes ready",
    () => {
      if (!isAlive(service.pid)) return { failed: true as const };
      return readLastState(dataDir)?.addresses;
    },
    startMaxMs,
  );
  if ("failed" in addresses) throw new Error(`millrace up has ended:\n${lines.join("\n")}`);
  return clusterOf({ service, dataDir, addresses, lines });
}

const portArgs = ["--grpc-port", "0", "--http-port", "0", "--json"];

function placeArgs({ besides }: ClusterOptions): string[] {
  if (besides === undefined) return [];
  const { databaseUrl, natsUrl, blobDirectory } = besides.addresses;
  return ["--database-url", databaseUrl, "--nats-url", natsUrl, "--blob-dir", blobDirectory];
}

function clusterOf(of: {
  service: Service;
  dataDir: string;
  addresses: Addresses;
  lines: readonly string[];
}): Cluster {
  const { service, dataDir, addresses, lines } = of;
  const database = connect({ url: addresses.databaseUrl, max: 2, name: "e2e test" });
  const identityOf = (name: string) => {
    const found = readLastState(dataDir)?.processes[name];
    if (found === undefined) throw new Error(`there is no process ${name}`);
    return found.pid;
  };
  return {
    addresses,
    grpcAddress: `127.0.0.1:${new URL(addresses.grpcUrl).port}`,
    database,
    pid: identityOf,
    pids: () => {
      const processes = Object.entries(readLastState(dataDir)?.processes ?? {});
      return Object.fromEntries(processes.map(([name, { pid }]) => [name, pid]));
    },
    kill: (name, signal) => {
      const pid = identityOf(name);
      sendSignal(pid, signal);
      return pid;
    },
    freeze: (name) => freezeTree(identityOf(name)),
    waitForSuccessor: async (name, pid) => {
      await waitFor(`another ${name}`, () => {
        const now = identityOf(name);
        return now !== pid && isAlive(now);
      });
    },
    get: (pathname) => fetch(`http://127.0.0.1:${new URL(addresses.httpUrl).port}${pathname}`),
    log: () => lines.join("\n"),
    stop: async () => {
      await database.close();
      sendSignal(service.pid, "SIGTERM");
      const late = await Promise.race([
        service.exited.then(() => false),
        delay(systemClock, stopMaxMs).then(() => true),
      ]);
      if (late) sendSignal(service.pid, "SIGKILL");
      await service.exited;
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
      if (late) throw new Error(`millrace up did not stop within ${stopMaxMs} ms:\n${lines.join("\n")}`);
    },
  };
}

/** The parent first: it can start nothing while its children are stopped. */
function freezeTree(pid: number): () => void {
  sendSignal(pid, "SIGSTOP");
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  const all = [pid, ...children.map(Number)];
  for (const each of all) sendSignal(each, "SIGSTOP");
  return () => {
    for (const each of all) sendSignal(each, "SIGCONT");
  };
}

/** Resident memory of a process in bytes; 0 when it has ended. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}
