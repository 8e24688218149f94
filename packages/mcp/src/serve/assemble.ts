import type { Clock } from "@millrace/base/clock";
import type { Log } from "@millrace/base/log";
import type { Random } from "@millrace/base/random";
import { Maintainer } from "../maintain/maintainer.ts";
import type { RetentionSettings } from "../maintain/retention.ts";
import { createRedactor } from "../redact/redactor.ts";
import { OutputBaseLocks } from "../run/output-base-lock.ts";
import { Permits } from "../run/permits.ts";
import { Runner } from "../run/runner.ts";
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

/** The parts of a server, put together; `close` stops what runs and lets go of the store. */
export interface Assembly {
  readonly context: ToolContext;
  readonly maintainer: Maintainer;
  readonly tasks: TaskSettings;
  close(): Promise<void>;
}

export function assemble(parts: {
  config: Config;
  environment: Readonly<Record<string, string | undefined>>;
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
  const context = { store, runner, redactor, clock, log, encoding: config.result_encoding };
  return {
    context,
    maintainer,
    tasks: { ttlMs: config.task_ttl_seconds * 1000, pollIntervalMs: config.task_poll_interval_ms },
    close: async () => {
      maintainer.stop();
      await runner.stop();
      await store.close();
    },
  };
}
