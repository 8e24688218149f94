import { rmSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { type Clock, delay, systemClock } from "@millrace/base/clock";
import { MillraceError } from "@millrace/base/errors";
import { freePort, isPortFree } from "./free-port.ts";
import { findPostgresBinaries } from "./postgres-binaries.ts";
import { type PostgresCluster, postgresDatabase, postgresUser, prepareCluster } from "./postgres-cluster.ts";
import { postgresIdentity, preparePostgresHome, prepareSocketDir } from "./postgres-home.ts";
import { clearLeftover, readPostmasterFile } from "./postgres-leftover.ts";
import { type Exit, type Identity, type Service, sendSignal, spawnService } from "./spawn-service.ts";

/**
 * For many small groups of rows committed at once and few long reads. What makes a commit durable (`fsync`,
 * `full_page_writes`, `synchronous_commit`) is written out, so that nobody wonders. pglz is the only
 * compression these builds have.
 */
const groupCommitSettings: Readonly<Record<string, string>> = {
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  shared_buffers: "256MB",
  wal_buffers: "16MB",
  wal_compression: "pglz",
  max_wal_size: "4GB",
  checkpoint_timeout: "15min",
  max_connections: "200",
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  log_line_prefix: "",
  unix_socket_permissions: "0700",
};

const pollDelayMs = 20;
/** Orphans of a killed server hold its shared memory until they notice, at most a few seconds. */
const occupiedMaxMs = 20_000;
const retryDelayMs = 200;
const fastStopMaxMs = 60_000;
const linesKept = 20;

/** `fast` breaks off open transactions, `smart` waits for clients to leave, `immediate` skips the checkpoint. */
export type PostgresStop = "smart" | "fast" | "immediate";

const stopSignals = { smart: "SIGTERM", fast: "SIGINT", immediate: "SIGQUIT" } as const;

export interface EmbeddedPostgresOptions {
  /** Millrace's own directory; the cluster goes into `postgres` below it. One server at a time. */
  readonly dataDir: string;
  /** On 127.0.0.1; 0 takes a free one. */
  readonly port: number;
  readonly onLine: (line: string) => void;
  /** Server settings besides, or instead of, our own. */
  readonly settings?: Readonly<Record<string, string>>;
  /** For tests: if this process dies, the data goes with it. */
  readonly ephemeral?: boolean;
  readonly clock?: Clock;
}

export interface EmbeddedPostgres extends Service {
  /** Superuser, database `millrace`, over TCP. */
  readonly url: string;
  /** The same over the Unix socket, in the form that `@millrace/db/connect` reads. */
  readonly socketUrl: string;
  readonly port: number;
  /** Directory of the Unix socket, which asks for no password but lets only our own user in. */
  readonly socketDir: string;
  /** Resolves when the server has ended. Repeated calls may only become harsher. */
  stop(mode?: PostgresStop): Promise<Exit>;
}

/**
 * Starts the embedded PostgreSQL on `dataDir` and waits until it takes connections. It survives kill -9: the
 * next start recovers. Throws `MillraceError` with the server's last lines when it does not come up.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const clock = options.clock ?? systemClock;
  if (options.port !== 0 && !(await isPortFree(options.port))) {
    throw failure(`port ${options.port} of 127.0.0.1 is taken by another program`);
  }
  const identity = postgresIdentity();
  const binaries = await findPostgresBinaries(identity);
  const home = await realpath(await preparePostgresHome(options.dataDir, identity));
  const cluster = await prepareCluster({ home, binaries, identity, sync: !options.ephemeral });
  await clearLeftover(cluster.directory, clock);
  const socketDir = await prepareSocketDir(home, identity);
  const removeDirectories = [options.dataDir, home, socketDir];
  const launch = {
    options,
    clock,
    identity,
    cluster,
    socketDir,
    program: binaries.postgres,
    removeDirectories,
  };
  const { service, port } = await launchUntilReady(launch);
  let isStopping = false;
  // Only after a stop: after a crash the directory may already belong to the next server. Synchronous and
  // first in line, since who waits for the end may end this process at once.
  void service.exited.then(() => isStopping && rmSync(socketDir, { recursive: true, force: true }));
  const login = `${postgresUser}:${encodeURIComponent(cluster.password)}`;
  return {
    ...service,
    port,
    socketDir,
    socketUrl: `postgres://${postgresUser}@localhost:${port}/${postgresDatabase}?host=${encodeURIComponent(socketDir)}`,
    url: `postgres://${login}@127.0.0.1:${port}/${postgresDatabase}`,
    stop: (mode = "fast") => {
      isStopping = true;
      return stopServer(service, mode, clock);
    },
  };
}

interface Launch {
  readonly options: EmbeddedPostgresOptions;
  readonly clock: Clock;
  readonly identity: Identity | undefined;
  readonly cluster: PostgresCluster;
  readonly socketDir: string;
  readonly program: string;
  readonly removeDirectories: readonly string[];
}

async function launchUntilReady(launch: Launch): Promise<{ service: Service; port: number }> {
  const { options, clock } = launch;
  const deadlineMs = clock.monotonic() + occupiedMaxMs;
  for (;;) {
    const port = options.port === 0 ? await freePort() : options.port;
    const lines: string[] = [];
    const service = await spawnServer(launch, port, lines);
    if (await becomesReady(launch, service)) return { service, port };
    if (clock.monotonic() > deadlineMs) throw failure(`the server does not start: ${lines.join(" | ")}`);
    await delay(clock, retryDelayMs);
  }
}

function spawnServer(launch: Launch, port: number, lines: string[]): Promise<Service> {
  const { options, cluster, socketDir } = launch;
  const settings = {
    ...groupCommitSettings,
    ...options.settings,
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: socketDir,
  };
  const settingArgs = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return spawnService({
    program: launch.program,
    args: ["-D", cluster.directory, ...settingArgs],
    identity: launch.identity,
    onLine: (line) => {
      lines.push(line);
      if (lines.length > linesKept) lines.shift();
      options.onLine(line);
    },
    onOurDeath: options.ephemeral
      ? { signal: "QUIT", removeDirectories: launch.removeDirectories }
      : { signal: "INT" },
  });
}

/** False when the server ended instead. Recovery after a crash may take as long as it likes. */
async function becomesReady(launch: Launch, service: Service): Promise<boolean> {
  let ended = false;
  void service.exited.then(() => {
    ended = true;
  });
  while (!ended) {
    const file = await readPostmasterFile(launch.cluster.directory);
    if (file?.pid === service.pid && file.status === "ready") return true;
    await delay(launch.clock, pollDelayMs);
  }
  return false;
}

async function stopServer(service: Service, mode: PostgresStop, clock: Clock): Promise<Exit> {
  sendSignal(service.pid, stopSignals[mode]);
  const cancel =
    mode === "fast" ? clock.after(fastStopMaxMs, () => sendSignal(service.pid, "SIGQUIT")) : () => {};
  const exit = await service.exited;
  cancel();
  return exit;
}

function failure(message: string): MillraceError {
  return new MillraceError({ remedy: "retry", code: "postgres-start", message: `PostgreSQL: ${message}.` });
}
