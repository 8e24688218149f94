import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApp } from "@millrace/api/app";
import { databaseLiveStore } from "@millrace/api/live/database-live-store";
import { LiveHub } from "@millrace/api/live/hub";
import type { SignalAccess } from "@millrace/api/signal-access";
import { openMode, type ViewerOf } from "@millrace/api/viewer";
import type { UiFiles } from "@millrace/api/web/ui-files";
import { systemClock } from "@millrace/base/clock";
import { silentLog } from "@millrace/base/log";
import { createMetrics } from "@millrace/base/metrics";
import { systemRandom } from "@millrace/base/random";
import { loadZstd, type Zstd } from "@millrace/base/zstd";
import { type DiskStore, openDiskStore } from "@millrace/blobs/disk-store";
import { connect, type Database } from "@millrace/db/connect";

/** The API over a database, as its `main.ts` puts it together, without a listener. */
export interface ApiServer {
  readonly database: Database;
  readonly zstd: Zstd;
  readonly blobs: DiskStore;
  readonly live: LiveHub;
  /** Answers a request for a path below the origin. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  readonly app: ReturnType<typeof createApp>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function apiServer(of: {
  databaseUrl: string;
  viewerOf?: ViewerOf;
  /** What the API reads with, where a test wants to see the statements. */
  ormOf?: (database: Database) => Database["orm"];
  ui?: UiFiles;
  signals?: SignalAccess;
}): Promise<ApiServer> {
  const directory = await mkdtemp(join(tmpdir(), "millrace-api-"));
  const zstd = await loadZstd();
  const blobs = await openDiskStore({ directory, random: systemRandom, clock: systemClock });
  const database = connect({ url: of.databaseUrl, max: 4, name: "api-test" });
  const live = new LiveHub({ store: databaseLiveStore(database.orm), clock: systemClock, log: silentLog });
  const app = createApp({
    orm: of.ormOf?.(database) ?? database.orm,
    source: { zstd, blobs },
    live,
    server: { version: "0.0.0", grpcUrl: "grpc://127.0.0.1:1985", httpUrl: "" },
    viewerOf: of.viewerOf ?? openMode,
    ui: of.ui,
    ...(of.signals !== undefined && { signals: of.signals }),
    metrics: createMetrics("api-test"),
    clock: systemClock,
    log: silentLog,
  });
  return {
    database,
    zstd,
    blobs,
    live,
    app,
    fetch: async (path, init) => app.request(`http://millrace.test${path}`, init),
    [Symbol.asyncDispose]: async () => {
      live.stop();
      await database.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
