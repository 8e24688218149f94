import { systemClock } from "@millrace/base/clock";
import { processEnvironment, readSettings } from "@millrace/base/config";
import { errorText } from "@millrace/base/errors";
import { runUntilSignal, type Stoppable } from "@millrace/base/lifecycle";
import { createLog, type Log } from "@millrace/base/log";
import { createMetrics } from "@millrace/base/metrics";
import { systemRandom } from "@millrace/base/random";
import { loadZstd } from "@millrace/base/zstd";
import { openBlobs } from "@millrace/blobs/open-blobs";
import { connect } from "@millrace/db/connect";
import type { Bus } from "@millrace/proto/bus";
import { connectBus } from "@millrace/proto/nats-bus";
import { createApp } from "./app.ts";
import { startHttpServer } from "./http-server.ts";
import { keyMode } from "./key-mode.ts";
import { databaseLiveStore } from "./live/database-live-store.ts";
import { LiveHub } from "./live/hub.ts";
import { type ApiSettings, apiSettings } from "./settings.ts";
import { signalAccess } from "./signal-access.ts";
import { version } from "./version.ts";
import { openMode } from "./viewer.ts";
import { loadUiFiles, type UiFiles } from "./web/ui-files.ts";

/** Statements that take longer are given up; the viewer is told so. */
const statementTimeoutMs = 15_000;

const settings = readSettings(apiSettings, processEnvironment());
const log = createLog({ name: "api", level: settings.logLevel });
try {
  await run(settings, log);
} catch (error) {
  log.error("the API does not start", { error: errorText(error) });
  process.exit(1);
}

async function run(settings: ApiSettings, log: Log): Promise<void> {
  const clock = systemClock;
  const zstd = await loadZstd();
  const blobs = await openBlobs(settings, { random: systemRandom, clock });
  const database = connect({
    url: withStatementTimeout(settings.databaseUrl),
    max: settings.databaseConnections,
    name: "millrace-api",
  });
  const live = new LiveHub({ store: databaseLiveStore(database.orm), clock, log });
  const bus = listenWhenThere(settings.natsUrl, { live, log });
  const app = createApp({
    orm: database.orm,
    source: { zstd, blobs },
    live,
    signals: signalAccess({ bus: bus.now, adminToken: settings.adminToken }),
    server: { version, grpcUrl: settings.publicGrpcUrl, httpUrl: settings.publicHttpUrl },
    viewerOf: settings.openMode ? openMode : keyMode({ orm: database.orm, adminToken: settings.adminToken }),
    ui: await uiFiles(settings.uiDirectory, log),
    metrics: createMetrics("api"),
    clock,
    log,
  });
  const http = await startHttpServer({
    fetch: app.fetch,
    host: settings.httpHost,
    port: settings.httpPort,
    clock,
  });
  if (settings.openMode && !isLoopback(settings.httpHost)) {
    log.warn("open mode on a network: whoever reaches this address reads every project", {
      host: settings.httpHost,
    });
  }
  live.start();
  const hub: Stoppable = { name: "live", stop: async () => live.stop() };
  runUntilSignal([{ name: "database", stop: () => database.close() }, bus, http, hub], log);
  log.info("listening", { host: settings.httpHost, port: http.port });
  process.send?.({ kind: "ready", httpPort: http.port });
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.[0-9.]+$/.test(host);
}

/** Pages work without NATS, by heartbeats; so nobody waits for it here. */
function listenWhenThere(
  servers: string,
  on: { live: LiveHub; log: Log },
): Stoppable & { now: () => Bus | undefined } {
  let connected: Bus | undefined;
  connectBus({ servers, name: "millrace-api", log: on.log }).then(
    (bus) => {
      connected = bus;
      on.live.attach(bus);
    },
    (error) =>
      on.log.error("NATS refuses this process: live pages follow every 5 s", { error: errorText(error) }),
  );
  return { name: "bus", now: () => connected, stop: async () => connected?.close() };
}

async function uiFiles(directory: string, log: Log): Promise<UiFiles | undefined> {
  if (directory === "") return undefined;
  try {
    return await loadUiFiles(directory);
  } catch (error) {
    log.warn("no dashboard is served", { directory, error: errorText(error) });
    return undefined;
  }
}

function withStatementTimeout(url: string): string {
  return url.includes("statement_timeout=")
    ? url
    : `${url}${url.includes("?") ? "&" : "?"}statement_timeout=${statementTimeoutMs}`;
}
