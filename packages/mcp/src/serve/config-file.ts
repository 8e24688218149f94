import { readFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { ConfigError } from "@millrace/base/config";
import { errorCode, errorText } from "@millrace/base/errors";
import { parse } from "smol-toml";
import { z } from "zod";
import { isBelow } from "../evidence/local-file.ts";
import type { RunSettings } from "../run/config.ts";
import { defaultPolicy } from "../run/policy.ts";
import { realRoots } from "../run/workspace.ts";

const strings = z.array(z.string());
const count = z.number().int().min(1);
const seconds = z.number().min(0);

/** The configuration file. Every key has a default; an unknown key is an error. */
export const configSchema = z.strictObject({
  allowed_roots: strings.default([]).describe("Workspaces must lie in one of these; empty: anywhere"),
  cache_root: z.string().optional().describe("Default: $XDG_CACHE_HOME/millrace-mcp"),
  bep_transport: z.enum(["tail", "fifo", "bes"]).default("tail").describe("How build events are captured"),
  bazel_executable: z.string().optional().describe("Default: tools/bazel of the workspace, bazelisk, bazel"),
  output_user_root: z.string().optional().describe("An output root of the server's own"),
  allowed_commands: strings.default([...defaultPolicy.allowed]).describe("Commands that may run"),
  denied_commands: strings
    .default([...defaultPolicy.denied])
    .describe("Commands that may not; wins over allowed"),
  environment_allowlist: strings
    .default([])
    .describe("Variables passed to Bazel besides HOME, PATH, TMPDIR, TEMP, TMP and USER"),
  redaction_patterns: strings.default([]).describe("Regular expressions besides the built-in ones"),
  global_concurrency: count.default(4).describe("Bazel processes at a time"),
  maximum_pending_invocations: count.default(256).describe("Waiting and running ones together"),
  default_timeout_seconds: count.default(1800),
  maximum_timeout_seconds: count.default(7200),
  maximum_run_output_bytes: count
    .default(256 << 20)
    .describe("A program run with bazel run is stopped beyond this"),
  cancellation_interrupt_grace_seconds: seconds.default(10).describe("From SIGINT to SIGTERM"),
  cancellation_terminate_grace_seconds: seconds.default(5).describe("From SIGTERM to SIGKILL"),
  mcp_execution_policy: z
    .enum(["auto", "sync_only", "tasks_required"])
    .default("auto")
    .describe("Whether bazel_run may, may not or must be called as an MCP task"),
  task_ttl_seconds: count.default(86_400).describe("How long a task's result is kept"),
  task_poll_interval_ms: z.number().int().min(100).max(60_000).default(2000),
  retention_days: z.number().min(0).default(7).describe("Age at which a record is removed"),
  success_evidence_hours: z
    .number()
    .min(0)
    .default(24)
    .describe("Age at which raw output of successful runs is removed"),
  failure_evidence_hours: z.number().min(0).default(168).describe("The same for all others"),
  maximum_storage_bytes: count.default(10 * 2 ** 30).describe("Beyond it the oldest go, down to 80 %"),
  retention_cleanup_interval_seconds: count.default(300),
  server: z
    .url({ protocol: /^https?$/, error: "write http://host:port" })
    .optional()
    .describe("A Millrace server whose builds may be looked into too"),
  server_api_key: z.string().optional().describe("Key for it; MILLRACE_API_KEY in the environment wins"),
  result_encoding: z.enum(["toon", "text", "structured", "both"]).default("toon"),
  supported_bazel_major_versions: z.array(z.number().int()).default([4, 5, 6, 7, 8, 9]),
  allow_unsupported_bazel_versions: z.boolean().default(false),
  version_check_timeout_seconds: seconds.default(30),
  isolated_bazel_server_idle_seconds: seconds.default(60),
});

export type Config = z.infer<typeof configSchema>;
type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the file given, or the first that exists of the usual places, or takes the defaults. */
export function loadConfig(at: { file: string | undefined; environment: Environment }): Config {
  const { environment } = at;
  const home = environment.HOME ?? homedir();
  const explicit = at.file ?? environment.MILLRACE_MCP_CONFIG;
  const usual = [environment.XDG_CONFIG_HOME ?? path.join(home, ".config")].map((directory) =>
    path.join(directory, "millrace", "mcp.toml"),
  );
  for (const file of explicit === undefined ? usual : [explicit]) {
    const text = readIfThere(file);
    if (text !== undefined) return parseConfig(text, file);
    if (explicit !== undefined) throw new ConfigError([`${file} does not exist`]);
  }
  return configSchema.parse({});
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw new ConfigError([`${file}: ${errorText(error)}`]);
  }
}

export function parseConfig(text: string, file: string): Config {
  let raw: unknown;
  try {
    raw = parse(text);
  } catch (error) {
    throw new ConfigError([`${file}: ${errorText(error)}`]);
  }
  const parsed = configSchema.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw new ConfigError(
    parsed.error.issues.map((issue) => `${file}: ${issue.path.join(".")} ${issue.message}`),
  );
}

/** Where the store lies. */
export function cacheRootOf(config: Config, environment: Environment): string {
  if (config.cache_root !== undefined) return path.resolve(config.cache_root);
  const home = environment.HOME ?? homedir();
  const base =
    environment.XDG_CACHE_HOME ??
    path.join(home, process.platform === "darwin" ? "Library/Caches" : ".cache");
  return path.join(base, "millrace-mcp");
}

const alwaysPassed = ["HOME", "PATH", "TMPDIR", "TEMP", "TMP", "USER"];

/** What the runner needs of the configuration; relations between settings are checked here. */
export function runSettingsOf(config: Config, environment: Environment): RunSettings {
  const problems: string[] = [];
  if (config.maximum_pending_invocations < config.global_concurrency) {
    problems.push("maximum_pending_invocations must be at least global_concurrency");
  }
  if (config.default_timeout_seconds > config.maximum_timeout_seconds) {
    problems.push("default_timeout_seconds must be at most maximum_timeout_seconds");
  }
  const roots = realRoots(config.allowed_roots);
  const cacheRoot = cacheRootOf(config, environment);
  for (const root of roots) {
    if (isBelow(cacheRoot, root))
      problems.push(`cache_root ${cacheRoot} must not lie in the allowed root ${root}`);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const passed = [...alwaysPassed, ...config.environment_allowlist];
  const values = passed.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    allowedRoots: roots,
    policy: { allowed: config.allowed_commands, denied: config.denied_commands },
    bepTransport: config.bep_transport,
    bazelExecutable: config.bazel_executable,
    outputUserRoot: config.output_user_root,
    environment: Object.fromEntries(values),
    searchPath: environment.PATH ?? "",
    globalConcurrency: config.global_concurrency,
    maximumPendingInvocations: config.maximum_pending_invocations,
    defaultTimeoutSeconds: config.default_timeout_seconds,
    maximumTimeoutSeconds: config.maximum_timeout_seconds,
    maximumRunOutputBytes: config.maximum_run_output_bytes,
    interruptGraceMs: config.cancellation_interrupt_grace_seconds * 1000,
    terminateGraceMs: config.cancellation_terminate_grace_seconds * 1000,
    isolatedServerIdleSeconds: config.isolated_bazel_server_idle_seconds,
    supportedMajors: config.supported_bazel_major_versions,
    allowUnsupported: config.allow_unsupported_bazel_versions,
    versionCheckTimeoutMs: config.version_check_timeout_seconds * 1000,
    lockDirectory: path.join(tmpdir(), `millrace-mcp-locks-${process.getuid?.() ?? 0}`),
  };
}
