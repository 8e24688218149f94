import path from "node:path";
import type { Clock } from "@millrace/base/clock";
import type { Log } from "@millrace/base/log";
import type { Random } from "@millrace/base/random";
import { Maintainer } from "../maintain/maintainer.ts";
import type { RetentionSettings } from "../maintain/retention.ts";
import { createRedactor } from "../redact/redactor.ts";
import { OutputBaseLocks } from "../run/output-base-lock.ts";
import { Permits } from "../run/permits.ts";
import { Runner } from "../run/runner.ts";
import type { ServerAddress } from "../server-link/server-api.ts";
import { ServerBuilds } from "../server-link/server-builds.ts";
import { Store } from "../store/store.ts";
import type { ToolContext } from "../tools/context.ts";
import { type Config, cacheRootOf, runSettingsOf } from "./config-file.ts";
import type { TaskSettings } from "./mcp-server.ts";

/** What the configuration says about keeping records. */
export function retentionOf(config: Config): RetentionSettings {
  return {
    retentionDays: config.retention_days,
    successEvidenceHours: config.success_evidence_hours,
    failureEvidenceHours: config.failure_evidence_hours,
    maximumStorageBytes: config.maximum_storage_bytes,
  };
}

/** The Millrace server that is asked besides, if any. */
function serverOf(config: Config, environment: Environment): ServerAddress | undefined {
  if (config.server === undefined) return undefined;
  const { origin } = new URL(config.server);
  const { MILLRACE_API_KEY: given = "" } = environment;
  return { origin, apiKey: given === "" ? config.server_api_key : given };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The parts of a server, put together; `close` stops what runs and lets go of the store. */
export interface Assembly {
  readonly context: ToolContext;
  readonly maintainer: Maintainer;
  readonly tasks: TaskSettings;
  close(): Promise<void>;
}

export function assemble(parts: {
  config: Config;
  environment: Environment;
  clock: Clock;
  random: Random;
  log: Log;
  /** Upkeep now and then; a single command does none. */
  isServing: boolean;
}): Assembly {
  const { config, environment, clock, random, log } = parts;
  const settings = runSettingsOf(config, environment);
  const store = new Store({ root: cacheRootOf(config, environment), clock, random, log });
  const redactor = createRedactor(config.redaction_patterns);
  const locks = new OutputBaseLocks({ directory: settings.lockDirectory, clock });
  const permits = new Permits(settings.globalConcurrency);
  const runner = new Runner({ store, settings, redactor, locks, permits, clock, random, log });
  const maintainer = new Maintainer({ store, redactor, clock, log }, retentionOf(config));
  if (parts.isServing) maintainer.start(config.retention_cleanup_interval_seconds * 1000);
  const address = serverOf(config, environment);
  const directory = path.join(store.layout.ofServer, store.publisher.id);
  const server =
    address === undefined
      ? undefined
      : new ServerBuilds(address, { directory, clock, random, log, redactor });
  const context = { store, runner, redactor, clock, log, encoding: config.result_encoding, server };
  return {
    context,
    maintainer,
    tasks: {
      policy: config.mcp_execution_policy,
      ttlMs: config.task_ttl_seconds * 1000,
      pollIntervalMs: config.task_poll_interval_ms,
    },
    close: async () => {
      maintainer.stop();
      await runner.stop();
      await server?.close();
      await store.close();
    },
  };
}
