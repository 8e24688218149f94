import { parseArgs } from "node:util";
import { ConfigError } from "@millrace/base/config";
import { type Config, loadConfig } from "../serve/config-file.ts";

/** What stands on the command line. */
export interface Options {
  readonly config: Config;
  readonly positionals: readonly string[];
  readonly http: number | undefined;
  readonly token: string | undefined;
  readonly project: string | undefined;
  readonly workspace: string;
  readonly limit: number;
  readonly view: string;
  readonly filter: string | undefined;
  readonly isHelp: boolean;
}

const options = {
  config: { type: "string" },
  "allow-root": { type: "string", multiple: true },
  "cache-root": { type: "string" },
  "bep-transport": { type: "string" },
  encoding: { type: "string" },
  http: { type: "string" },
  token: { type: "string" },
  server: { type: "string" },
  project: { type: "string" },
  workspace: { type: "string" },
  limit: { type: "string" },
  view: { type: "string" },
  filter: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

/** Reads arguments and the configuration; the command line wins. A mistake is a `ConfigError` that names it. */
export function readOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Options {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(args);
  } catch (error) {
    throw new ConfigError([error instanceof Error ? error.message : String(error)]);
  }
  const { values, positionals } = parsed;
  const config = loadConfig({ file: values.config, environment });
  const transport = oneOf(values["bep-transport"], ["tail", "fifo", "bes"] as const, config.bep_transport);
  const encoding = oneOf(
    values.encoding,
    ["toon", "text", "structured", "both"] as const,
    config.result_encoding,
  );
  return {
    config: {
      ...config,
      ...{ bep_transport: transport, result_encoding: encoding },
      ...(values.server === undefined ? {} : { server: urlOf(values.server) }),
      ...(values["cache-root"] === undefined ? {} : { cache_root: values["cache-root"] }),
      ...(values["allow-root"] === undefined ? {} : { allowed_roots: values["allow-root"] }),
    },
    positionals,
    http: numberOf(values.http, "--http"),
    token: values.token,
    project: values.project,
    workspace: values.workspace ?? process.cwd(),
    limit: numberOf(values.limit, "--limit") ?? 20,
    view: values.view ?? "summary",
    filter: values.filter,
    isHelp: values.help ?? false,
  };
}

function parse(args: readonly string[]) {
  return parseArgs({ args: [...args], options, allowPositionals: true });
}

function numberOf(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,5}$/.test(text)) throw new ConfigError([`${name} needs a number, not ${JSON.stringify(text)}`]);
  return Number(text);
}

function urlOf(text: string): string {
  const isUrl = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isUrl) throw new ConfigError([`--server needs http://host:port, not ${JSON.stringify(text)}`]);
  return text;
}

function oneOf<T extends string>(text: string | undefined, allowed: readonly T[], fallback: T): T {
  if (text === undefined) return fallback;
  const found = allowed.find((one) => one === text);
  if (found === undefined) throw new ConfigError([`${text} is not one of ${allowed.join(", ")}`]);
  return found;
}
