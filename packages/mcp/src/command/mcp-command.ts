import path from "node:path";
import { systemClock } from "@millrace/base/clock";
import { ConfigError, processEnvironment } from "@millrace/base/config";
import { errorText, MillraceError } from "@millrace/base/errors";
import { silentLog } from "@millrace/base/log";
import { systemRandom } from "@millrace/base/random";
import { type Assembly, assemble } from "../serve/assemble.ts";
import { runSettingsOf } from "../serve/config-file.ts";
import { serveHttp } from "../serve/http.ts";
import { callTool } from "../serve/mcp-server.ts";
import { serveStdio } from "../serve/stdio.ts";
import { allTools } from "../tools/all-tools.ts";
import { clientConfigs } from "./client-config.ts";
import { examine } from "./doctor.ts";
import { type Options, readOptions } from "./options.ts";
import { reference } from "./reference.ts";

export const mcpHelp = `millrace mcp: the local MCP server that runs Bazel for agents

  millrace mcp [options]              serve one client on standard input and output
  millrace mcp --http PORT            serve on http://127.0.0.1:PORT/mcp (0: any port) with a token
  millrace mcp list                   invocations in the store, newest first
  millrace mcp show ID [--view V]     one view of an invocation, as bazel_inspect gives it
  millrace mcp gc                     apply retention now
  millrace mcp doctor                 check Bazel, the store, the configuration
  millrace mcp reference              tools and settings, as in docs/mcp.md
  millrace mcp config                 configuration for the common MCP clients

  --server URL                        look into builds of a Millrace server too; its key in MILLRACE_API_KEY
  --project P                         list, show: of this project of the server
  --config FILE  --allow-root DIR (repeatable)  --cache-root DIR  --bep-transport tail|fifo|bes
  --encoding toon|text|structured|both  --token TOKEN  --workspace DIR  --limit N  --filter TEXT
`;

/** `millrace mcp …`. Returns the exit code: 2 for a mistake of the user's. */
export async function runMcpCommand(
  args: readonly string[],
  start: { command: string; args: readonly string[] } = ownStart(),
): Promise<number> {
  try {
    const environment = processEnvironment();
    const options = readOptions(args, environment);
    if (options.isHelp) return say(mcpHelp);
    const [verb = "serve"] = options.positionals;
    if (verb === "config") return say(`${clientConfigs(start)}\n`);
    if (!["serve", "list", "show", "gc", "doctor", "reference"].includes(verb)) {
      throw new ConfigError([`unknown sub-command ${verb}; see millrace mcp --help`]);
    }
    const { config } = options;
    const parts = { config, environment, clock: systemClock, random: systemRandom, log: silentLog };
    const assembly = assemble({ ...parts, isServing: verb === "serve" });
    if (verb === "serve") return await serve(assembly, options);
    try {
      return await answer(assembly, { verb, options, environment });
    } finally {
      await assembly.close();
    }
  } catch (error) {
    if (!(error instanceof ConfigError) && !(error instanceof MillraceError)) throw error;
    process.stderr.write(`${errorText(error)}\n`);
    return 2;
  }
}

/** How this very process was started, for configuration that starts it again. */
function ownStart(): { command: string; args: readonly string[] } {
  return { command: process.execPath, args: [path.resolve(import.meta.dirname, "../main.ts")] };
}

function say(text: string): number {
  process.stdout.write(text);
  return 0;
}

async function serve(assembly: Assembly, options: Options): Promise<number> {
  if (options.http === undefined) {
    await serveStdio(assembly);
    return 0;
  }
  const token = options.token ?? Buffer.from(systemRandom.bytes(24)).toString("base64url");
  const endpoint = await serveHttp(assembly, { port: options.http, token, random: systemRandom });
  say(`${endpoint.url}\nAuthorization: Bearer ${token}\n`);
  await new Promise<void>((resolve) => {
    process.once("SIGINT", resolve);
    process.once("SIGTERM", resolve);
  });
  await assembly.close();
  await endpoint.close();
  return 0;
}

async function answer(
  assembly: Assembly,
  at: { verb: string; options: Options; environment: Readonly<Record<string, string | undefined>> },
): Promise<number> {
  const { options } = at;
  const given = { limit: options.limit, filter: options.filter };
  switch (at.verb) {
    case "gc": {
      const report = await assembly.maintainer.pass();
      return say(
        report.kind === "busy"
          ? `process ${report.holderPid} is at it already\n`
          : `${report.removed} invocations removed, raw output of ${report.evidenceExpired} removed, ${report.recovered} of dead servers finished\n`,
      );
    }
    case "doctor": {
      const settings = runSettingsOf(options.config, at.environment);
      const findings = examine(assembly, { settings, workspace: options.workspace });
      for (const one of findings) say(`${one.isWell ? "ok  " : "BAD "} ${one.name}: ${one.text}\n`);
      return findings.every((one) => one.isWell) ? 0 : 1;
    }
    case "reference":
      return say(`${reference(allTools(assembly.context))}\n`);
    case "list":
      return inspect(assembly, { view: "invocations", project: options.project, ...given });
    default: {
      const [, id] = options.positionals;
      const { view, project } = options;
      return inspect(assembly, { invocation_id: id, view, project, ...given });
    }
  }
}

/** The same answer that an agent gets. */
async function inspect(assembly: Assembly, args: Record<string, unknown>): Promise<number> {
  const { context } = assembly;
  const tool = allTools(context).find((one) => one.name === "bazel_inspect");
  if (tool === undefined) return 1;
  const call = { signal: new AbortController().signal, reportProgress: undefined };
  const result = await callTool(tool, { args, call, context });
  for (const part of result.content) if (part.type === "text") say(`${part.text}\n`);
  return result.isError === true ? 1 : 0;
}
