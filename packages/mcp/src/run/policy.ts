import { MillraceError } from "@millrace/base/errors";

/** Which commands may run. Deny wins over allow. */
export interface CommandPolicy {
  readonly allowed: readonly string[];
  readonly denied: readonly string[];
}

export const defaultPolicy: CommandPolicy = {
  allowed: ["aquery", "build", "coverage", "cquery", "help", "info", "mod", "query", "test", "version"],
  denied: ["clean", "fetch", "mobile-install", "run", "shutdown", "sync"],
};

/** A request that is refused before anything durable exists. The message says what to do instead. */
export function refuse(code: string, message: string): MillraceError {
  return new MillraceError({ remedy: "reject", code: `mcp-${code}`, message });
}

export function checkCommand(command: string, policy: CommandPolicy): void {
  const denied = policy.denied.includes(command);
  if (!denied && policy.allowed.includes(command)) return;
  const how = denied
    ? `it is in denied_commands of the server's configuration`
    : `allowed are ${policy.allowed.join(", ")}`;
  throw refuse("command-denied", `command ${JSON.stringify(command)} is not allowed: ${how}`);
}

const argumentsMax = 10_000;
const argumentBytesMax = 64 << 10;
const allArgumentsBytesMax = 2 << 20;

/** Bounds of A2.1: number, size of each, size of all, no NUL. */
export function checkShape(lists: Readonly<Record<string, readonly string[]>>): void {
  let count = 0;
  let total = 0;
  for (const [name, list] of Object.entries(lists)) {
    for (const argument of list) {
      const bytes = Buffer.byteLength(argument);
      count += 1;
      total += bytes;
      if (argument.includes("\0")) throw refuse("argument-nul", `${name} holds a NUL character`);
      if (bytes > argumentBytesMax) {
        throw refuse(
          "argument-long",
          `one of ${name} has ${bytes} bytes, at most ${argumentBytesMax} are allowed`,
        );
      }
    }
  }
  if (count > argumentsMax) throw refuse("arguments-many", `${count} arguments, at most ${argumentsMax}`);
  if (total > allArgumentsBytesMax) {
    throw refuse("arguments-long", `${total} bytes of arguments, at most ${allArgumentsBytesMax}`);
  }
}

/** Flags that decide what we see of Bazel; the server sets them itself. Without the dashes and `no`. */
const reserved = new Set([
  "build_event_binary_file",
  "build_event_binary_file_path_conversion",
  "build_event_binary_file_upload_mode",
  "build_event_json_file",
  "build_event_json_file_path_conversion",
  "build_event_text_file",
  "build_event_text_file_path_conversion",
  "build_event_publish_all_actions",
  "color",
  "curses",
  "show_progress",
  "show_result",
  "invocation_id",
  "subcommands",
  "run",
  "script_path",
  "omit_run_args",
  "experimental_run_bep_event_include_residue",
  "run_under",
  "run_env",
  "test_output",
  "test_summary",
  "tool_tag",
]);
const reservedForBes = new Set(["bes_backend", "bes_upload_mode"]);
const rowFormats = /^(proto|streamed_proto|jsonproto|streamed_jsonproto)$/;

/** Refuses flags that would hide from us what Bazel does, or make rows unreadable. */
export function checkFlags(request: {
  command: string;
  args: readonly string[];
  startupArgs: readonly string[];
  transport: "tail" | "fifo" | "bes";
}): void {
  const { args } = request;
  const separator = args.indexOf("--");
  const flags = separator === -1 ? args : args.slice(0, separator);
  flags.forEach((argument, index) => {
    if (argument === "-s") throw reservedError("-s");
    const name = flagName(argument);
    if (name === undefined) return;
    if (reserved.has(name) || (request.transport === "bes" && reservedForBes.has(name))) {
      throw reservedError(argument.split("=")[0] ?? argument);
    }
    if (name === "output" && request.command.endsWith("query")) {
      const value = argument.includes("=")
        ? argument.slice(argument.indexOf("=") + 1)
        : (flags[index + 1] ?? "");
      if (rowFormats.test(value)) {
        throw refuse(
          "query-format",
          `--output=${value} is binary or one large document; use a format with one result per line, such as label or label_kind`,
        );
      }
    }
  });
  for (const argument of request.startupArgs) {
    if (!argument.startsWith("-")) {
      throw refuse("startup-argument", `startup_args may hold only flags, not ${JSON.stringify(argument)}`);
    }
    const name = flagName(argument);
    if (name !== undefined && reserved.has(name)) throw reservedError(argument);
  }
}

function reservedError(flag: string): MillraceError {
  return refuse(
    "flag-reserved",
    `${flag} is set by this server and cannot be given: its answers depend on it`,
  );
}

/** `--noshow_result`, `--show_result=1` → `show_result`; undefined for what is no flag. */
function flagName(argument: string): string | undefined {
  const match = /^--([A-Za-z0-9_-]+)/.exec(argument);
  if (!match) return undefined;
  const name = (match[1] ?? "").replaceAll("-", "_");
  const positive = name.replace(/^no_?/, "");
  return reserved.has(name) ? name : reserved.has(positive) ? positive : name;
}

/** `bazel run`: flags only, because the target is a field of its own. */
export function checkRunFields(request: {
  command: string;
  target: string | undefined;
  programArgs: readonly string[] | undefined;
  args: readonly string[];
}): void {
  if (request.command !== "run") {
    if (request.target !== undefined || request.programArgs !== undefined) {
      throw refuse(
        "run-only",
        `target and program_args belong to the command "run"; put target patterns into args`,
      );
    }
    return;
  }
  if (request.target === undefined) throw refuse("run-target", `the command "run" needs target`);
  const stray = request.args.find((argument) => !argument.startsWith("-") || argument === "--");
  if (stray !== undefined) {
    throw refuse(
      "run-args",
      `args of "run" may hold only flags written as --name=value, not ${JSON.stringify(stray)}; the target is a field of its own`,
    );
  }
}
