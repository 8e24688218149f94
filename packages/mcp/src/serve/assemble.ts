import type { Clock } from "@millrace/base/clock";
import type { Log } from "@millrace/base/log";
import type { Random } from "@millrace/base/random";
import { createRedactor } from "../redact/redactor.ts";
import { OutputBaseLocks } from "../run/output-base-lock.ts";
import { Permits } from "../run/permits.ts";
import { Runner } from "../run/runner.ts";
import { Store } from "../store/store.ts";
import type { ToolContext } from "../tools/context.ts";
import { type Config, cacheRootOf, runSettingsOf } from "./config-file.ts";

/** The parts of a server, put together; `close` stops what runs and lets go of the store. */
export interface Assembly {
  readonly context: ToolContext;
  close(): Promise<void>;
}

export function assemble(parts: {
  config: Config;
  environment: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  random: Random;
  log: Log;
}): Assembly {
  const { config, environment, clock, random, log } = parts;
  const settings = runSettingsOf(config, environment);
  const store = new Store({ root: cacheRootOf(config, environment), clock, random, log });
  const redactor = createRedactor(config.redaction_patterns);
  const locks = new OutputBaseLocks({ directory: settings.lockDirectory, clock });
  const permits = new Permits(settings.globalConcurrency);
  const runner = new Runner({ store, settings, redactor, locks, permits, clock, log });
  const context = { store, runner, redactor, clock, log, encoding: config.result_encoding };
  return {
    context,
    close: async () => {
      await runner.stop();
      await store.close();
    },
  };
}
