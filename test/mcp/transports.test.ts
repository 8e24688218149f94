import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { processEnvironment } from "@millrace/base/config";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, CreateTaskResultSchema, ErrorCode } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Place, readAnswer, Session, serverMain } from "./session.ts";

let place: Place;
let server: ReturnType<typeof spawn>;
let url = "";
let token = "";

/** A server on HTTP whose Bazel prints a row and takes its time. */
beforeAll(async () => {
  place = new Place();
  const config = place.config([
    `bazel_executable = ${JSON.stringify(place.fakeBazel("echo row; sleep 0.5"))}`,
    "task_poll_interval_ms = 100",
  ]);
  const { PATH = "", HOME = "" } = processEnvironment();
  const args = [
    serverMain,
    "--http",
    "0",
    "--cache-root",
    place.cacheRoot,
    "--config",
    config,
    "--encoding",
    "text",
  ];
  server = spawn(process.execPath, args, { env: { PATH, HOME }, stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: server.stdout ?? process.stdin })[Symbol.asyncIterator]();
  url = String((await lines.next()).value);
  token = String((await lines.next()).value).replace("Authorization: Bearer ", "");
});

afterAll(async () => {
  server.kill("SIGTERM");
  if (server.exitCode === null) await once(server, "exit");
  place.remove();
});

async function connect(): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport as unknown as Parameters<Client["connect"]>[0]);
  return client;
}

function openWith(policy: string): Promise<Session> {
  const executable = JSON.stringify(place.fakeBazel("echo row; sleep 0.5"));
  const config = place.config([
    `bazel_executable = ${executable}`,
    `mcp_execution_policy = "${policy}"`,
    "task_poll_interval_ms = 100",
  ]);
  return Session.open(place, ["--config", config]);
}

const request = () => ({ workspace: place.workspace, command: "query", args: ["//..."] });

test("the official client over HTTP: a run, a page, a resource", async () => {
  const client = await connect();
  const answer = readAnswer(await client.callTool({ name: "bazel_run", arguments: request() }));
  expect(answer.fields).toMatchObject({ state: "succeeded", query_result_count: 1 });
  const id = String(answer.fields["invocation_id"]);
  const { resources } = await client.listResources();
  expect(resources.map((one) => one.uri)).toContain(`bazel://invocations/${id}/summary`);
  const log = await client.readResource({ uri: `bazel://invocations/${id}/log` });
  expect(JSON.stringify(log.contents)).toContain("row");
  await client.close();
});

test("a run as a task: an id at once, the result later, the same to another connection", async () => {
  const client = await connect();
  const stream = client.experimental.tasks.callToolStream(
    { name: "bazel_run", arguments: request() },
    CallToolResultSchema,
    { task: { ttl: 60_000 } },
  );
  let taskId = "";
  let text = "";
  for await (const message of stream) {
    if (message.type === "taskCreated") taskId = message.task.taskId;
    if (message.type === "error") throw message.error;
    if (message.type === "result") text = readAnswer(message.result).text;
  }
  expect(JSON.parse(text)).toMatchObject({ invocation_id: taskId, state: "succeeded" });
  const other = await connect();
  const task = await other.experimental.tasks.getTask(taskId);
  expect(task.status).toBe("completed");
  const { tasks } = await other.experimental.tasks.listTasks();
  expect(tasks.map((one) => one.taskId)).toContain(taskId);
  await expect(other.experimental.tasks.cancelTask(taskId)).rejects.toThrow("terminal");
  await client.close();
  await other.close();
});

test("a task is cancelled", async () => {
  const client = await connect();
  const created = await client.request(
    { method: "tools/call", params: { name: "bazel_run", arguments: request(), task: {} } },
    CreateTaskResultSchema,
  );
  const cancelled = await client.experimental.tasks.cancelTask(created.task.taskId);
  expect(cancelled.status).toBe("cancelled");
  await client.close();
});

test.each([
  ["without a token", { headers: {} }, 401],
  ["with a wrong token", { headers: { authorization: "Bearer nope" } }, 401],
  ["from a web page", { headers: { origin: "https://evil.example" } }, 403],
])("HTTP %s is refused", async (_name, init, status) => {
  const response = await fetch(url, { method: "POST", body: "{}", ...init });
  expect(response.status).toBe(status);
});

test("sync_only: no tasks are offered, and none is made", async () => {
  const other = await openWith("sync_only");
  expect(other.client.getServerCapabilities()?.tasks).toBeUndefined();
  const { tools } = await other.client.listTools();
  expect(tools.find((one) => one.name === "bazel_run")?.execution).toBeUndefined();
  const call = { name: "bazel_run", arguments: request(), task: {} };
  await expect(
    other.client.request({ method: "tools/call", params: call }, CreateTaskResultSchema),
  ).rejects.toThrow("does not support");
  expect((await other.call("bazel_run", request())).fields).toMatchObject({ state: "succeeded" });
  await other.close();
});

test("tasks_required: a run is a task or nothing; looking stays a plain call", async () => {
  const other = await openWith("tasks_required");
  const { tools } = await other.client.listTools();
  expect(tools.find((one) => one.name === "bazel_run")?.execution).toEqual({ taskSupport: "required" });
  const plain = { name: "bazel_run", arguments: request() };
  await expect(
    other.client.request({ method: "tools/call", params: plain }, CallToolResultSchema),
  ).rejects.toMatchObject({ code: ErrorCode.MethodNotFound });
  const created = await other.client.request(
    { method: "tools/call", params: { ...plain, task: {} } },
    CreateTaskResultSchema,
  );
  const result = await other.client.experimental.tasks.getTaskResult(
    created.task.taskId,
    CallToolResultSchema,
  );
  expect(readAnswer(result).fields).toMatchObject({ state: "succeeded" });
  expect((await other.call("bazel_inspect", { view: "invocations", limit: 1 })).isError).toBe(false);
  await other.close();
});
