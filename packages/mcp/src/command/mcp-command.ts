import { parseArgs } from "node:util";
import { systemClock } from "@millrace/base/clock";
import { processEnvironment } from "@millrace/base/config";
import { silentLog } from "@millrace/base/log";
import { systemRandom } from "@millrace/base/random";
import { assemble } from "../serve/assemble.ts";
import { loadConfig } from "../serve/config-file.ts";
import { serveStdio } from "../serve/stdio.ts";

export async function runMcpCommand(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      config: { type: "string" },
      "allow-root": { type: "string", multiple: true },
      "cache-root": { type: "string" },
    },
    allowPositionals: true,
  });
  const environment = processEnvironment();
  const base = loadConfig({ file: values.config, environment });
  const config = {
    ...base,
    ...(values["cache-root"] === undefined ? {} : { cache_root: values["cache-root"] }),
    ...(values["allow-root"] === undefined ? {} : { allowed_roots: values["allow-root"] }),
  };
  const assembly = assemble({
    config,
    environment,
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
  });
  await serveStdio(assembly);
  return 0;
}
