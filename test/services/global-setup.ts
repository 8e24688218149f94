import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "@millrace/cli/services/embedded-postgres";
import { startNatsServer } from "@millrace/cli/services/nats-server";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** Superuser on the test run's own PostgreSQL. */
    readonly postgresUrl: string;
    /** The test run's own nats-server. */
    readonly natsUrl: string;
  }
}

interface Servers {
  readonly postgresUrl: string;
  readonly natsUrl: string;
  stop(): Promise<void>;
}

interface Shared {
  readonly servers: Promise<Servers>;
  users: number;
}

/** Several projects of one vitest run name this file, and each loads its own copy of the module. */
const sharedKey = Symbol.for("millrace.test-servers");
const shared = globalThis as { [sharedKey]?: Shared | undefined };

/** A new database then takes 40 ms instead of 260. Nobody pulls the plug here, and kill -9 loses nothing by it. */
const throwawaySettings = { fsync: "off" };

/**
 * One embedded PostgreSQL and one nats-server for the whole vitest run, in a temporary directory. Should vitest
 * die, the guards of both end them and remove the directory.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const entry = shared[sharedKey] ?? { servers: startServers(), users: 0 };
  shared[sharedKey] = entry;
  entry.users += 1;
  const { postgresUrl, natsUrl } = await entry.servers;
  project.provide("postgresUrl", postgresUrl);
  project.provide("natsUrl", natsUrl);
  return async () => {
    entry.users -= 1;
    if (entry.users > 0) return;
    shared[sharedKey] = undefined;
    await (await entry.servers).stop();
  };
}

async function startServers(): Promise<Servers> {
  const dataDir = await mkdtemp(join(tmpdir(), "millrace-test-"));
  const options = { dataDir, port: 0, onLine: () => {}, ephemeral: true };
  const nats = await startNatsServer(options);
  const postgres = await startEmbeddedPostgres({ ...options, settings: throwawaySettings }).catch(
    async (error: unknown) => {
      await nats.stop();
      throw error;
    },
  );
  return {
    postgresUrl: postgres.url,
    natsUrl: nats.url,
    stop: async () => {
      await Promise.all([postgres.stop("immediate"), nats.stop()]);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
