import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tool } from "../tools.ts";

const runFile = promisify(execFile);
let home: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "millrace-tools-"));
});

afterAll(async () => {
  await runFile("chmod", ["-R", "u+w", home]);
  await rm(home, { recursive: true, force: true });
});

const bazel = await tool("bazel");

test.skipIf(bazel.kind === "missing")("Bazel builds and tests in an empty environment", async () => {
  if (bazel.kind === "missing") return;
  const workspace = join(home, "workspace");
  await mkdir(workspace);
  await writeFile(join(workspace, "WORKSPACE"), "");
  const rule = 'genrule(name = "hello", outs = ["hello.txt"], cmd = "echo hello > $@")\n';
  await writeFile(join(workspace, "BUILD"), rule);
  const options = { cwd: workspace, env: { ...bazel.env, HOME: home } };
  const startup = [`--output_user_root=${join(home, "bazel")}`, "--max_idle_secs=60"];
  await runFile(bazel.path, [...startup, "build", "//:hello"], options);
  expect(await readFile(join(workspace, "bazel-bin", "hello.txt"), "utf8")).toBe("hello\n");
  await runFile(bazel.path, [...startup, "shutdown"], options);
});

const chromium = await tool("chromium");

test.skipIf(chromium.kind === "missing")("Chromium draws a page", async () => {
  if (chromium.kind === "missing") return;
  const picture = join(home, "page.png");
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"];
  const page = "data:text/html,<title>t</title><body style='background:lime'><h1>Millrace</h1>";
  const options = { env: { ...chromium.env, HOME: home }, cwd: home };
  await runFile(chromium.path, [...flags, `--screenshot=${picture}`, "--window-size=400,200", page], options);
  expect((await readFile(picture)).subarray(1, 4).toString()).toBe("PNG");
});

test("nats-server tells its version", async () => {
  const server = await tool("nats-server");
  if (server.kind === "missing") throw new Error(server.why);
  const { stdout } = await runFile(server.path, ["--version"], { env: server.env });
  expect(stdout).toMatch(/v2\.\d+\.\d+/);
});
