import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "@millrace/base/clock";
import { ConfigError, processEnvironment } from "@millrace/base/config";
import { errorText, MillraceError } from "@millrace/base/errors";
import { silentLog } from "@millrace/base/log";
import { systemRandom } from "@millrace/base/random";
import { assemble } from "../serve/assemble.ts";
import { loadConfig } from "../serve/config-file.ts";
import { answerFor, waitFor } from "../tools/wait.ts";

const wrapperFailed = 2;
const markers = ["MODULE.bazel", "WORKSPACE.bazel", "WORKSPACE"];

/**
 * `millrace bazel -- test //…`: one command with the same capture and the same bounded answer as the server's, printed to
 * standard output; the exit code is Bazel's. The store is thrown away afterwards.
 */
export async function runBazelCommand(args: readonly string[]): Promise<number> {
  const cacheRoot = mkdtempSync(path.join(tmpdir(), "millrace-bazel-"));
  try {
    const environment = processEnvironment();
    const words = args[0] === "--" ? args.slice(1) : [...args];
    const commandAt = words.findIndex((word) => !word.startsWith("-"));
    if (commandAt === -1)
      throw new ConfigError(["usage: millrace bazel -- [startup options] COMMAND [arguments]"]);
    const config = {
      ...loadConfig({ file: undefined, environment }),
      cache_root: path.join(cacheRoot, "store"),
    };
    const parts = { config, environment, clock: systemClock, random: systemRandom, log: silentLog };
    const assembly = assemble({ ...parts, isServing: false });
    try {
      const run = await assembly.context.runner.start({
        workspace: workspaceOf(process.cwd()),
        startup_args: words.slice(0, commandAt),
        command: words[commandAt] ?? "",
        ...argumentsOf(words[commandAt] ?? "", words.slice(commandAt + 1)),
      });
      const cancel = (): void => run.cancel("interrupted");
      process.on("SIGINT", cancel);
      process.on("SIGTERM", cancel);
      const call = { signal: new AbortController().signal, reportProgress: undefined };
      const invocation = await waitFor(run, { waitMs: undefined, call, context: assembly.context });
      const answer = await answerFor(run, { invocation, context: assembly.context });
      process.stdout.write(`${withoutFollowUps(answer.content[0]?.text ?? "")}\n`);
      const termination = invocation?.termination;
      return termination?.kind === "exit" ? termination.code : wrapperFailed;
    } finally {
      await assembly.close();
    }
  } catch (error) {
    if (!(error instanceof ConfigError) && !(error instanceof MillraceError)) throw error;
    process.stderr.write(`${errorText(error)}\n`);
    return wrapperFailed;
  } finally {
    rmSync(cacheRoot, { recursive: true, force: true });
  }
}

/** `run` takes its target and the program's arguments in fields of their own. */
function argumentsOf(
  command: string,
  words: readonly string[],
): { args: readonly string[]; target?: string; program_args?: readonly string[] } {
  if (command !== "run") return { args: words };
  const separator = words.indexOf("--");
  const own = separator === -1 ? words : words.slice(0, separator);
  const target = own.find((word) => !word.startsWith("-"));
  return {
    args: own.filter((word) => word !== target),
    ...(target === undefined ? {} : { target }),
    ...(separator === -1 ? {} : { program_args: words.slice(separator + 1) }),
  };
}

function workspaceOf(directory: string): string {
  for (let at = directory; ; at = path.dirname(at)) {
    if (markers.some((marker) => existsSync(path.join(at, marker)))) return at;
    if (at === path.dirname(at)) throw new ConfigError([`${directory} lies in no Bazel workspace`]);
  }
}

/** Nothing can be looked into afterwards. */
function withoutFollowUps(text: string): string {
  return text
    .split("\n")
    .filter((line) => !/^(next|inspect_hint|available_views(\[\d+\])?|invocation_id):/.test(line))
    .join("\n");
}
