import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { processEnvironment } from "@millrace/base/config";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Place, readAnswer } from "./session.ts";

const program = path.resolve(import.meta.dirname, "../../packages/cli/bin/millrace.mjs");

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

/** What `millrace mcp …` prints. */
async function millrace(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, "mcp", ...args]);
  return stdout;
}

interface StartLine {
  readonly command: string;
  readonly args: readonly string[];
}

test("what docs/mcp.md tells a newcomer works as it is printed: paste, connect, run, look, check", async () => {
  const printed = await millrace("config");
  // As the page says, the piece for .mcp.json.
  const json = /\{\n {2}"mcpServers"[\s\S]*?\n\}/.exec(printed)?.[0] ?? "{}";
  const { mcpServers } = JSON.parse(json) as { mcpServers: Record<string, StartLine> };
  const start = mcpServers["bazel"];
  const config = place.config([`bazel_executable = ${JSON.stringify(place.fakeBazel("echo //a:b"))}`]);
  const own = ["--allow-root", place.workspace, "--cache-root", place.cacheRoot, "--config", config];
  const { PATH = "", HOME = "" } = processEnvironment();
  const transport = new StdioClientTransport({
    command: start?.command ?? "",
    args: [...(start?.args ?? []), ...own],
    // A client starts it wherever it happens to be.
    cwd: place.home,
    env: { PATH, HOME },
    stderr: "inherit",
  });
  const client = new Client({ name: "newcomer", version: "1" });
  await client.connect(transport);
  expect(client.getInstructions()).toContain("bazel_run");
  const run = { workspace: place.workspace, command: "query", args: ["//..."] };
  const answer = readAnswer(await client.callTool({ name: "bazel_run", arguments: run }), "toon");
  expect(answer.text).toContain("state: succeeded");
  expect(answer.text).toContain("query_result_count: 1");
  await client.close();
  expect(await millrace("list", ...own)).toContain("succeeded,query");
  expect(await millrace("doctor", "--workspace", place.workspace, ...own)).not.toContain("BAD");
});

test("every client's piece starts the same program", async () => {
  const printed = await millrace("config");
  const pieces = printed.split("\n\n");
  expect(pieces.length).toBeGreaterThan(5);
  for (const piece of pieces) expect(piece).toContain(program);
});
