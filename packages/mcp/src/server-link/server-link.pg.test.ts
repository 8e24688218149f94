import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { systemClock } from "@millrace/base/clock";
import { build_event_stream } from "@millrace/proto/gen/bep";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type Answer, Place, Session, until } from "../../../../test/mcp/session.ts";
import { getRun } from "../../../../test/model/corpus.ts";
import {
  type LocalPipeline,
  startLocalPipeline,
  type UploadedStream,
} from "../../../../test/pipeline/local-pipeline.ts";
import { eventsOfPayloads, uploadsOf } from "../../../../test/pipeline/uploads.ts";
import { type ApiServer, apiServer } from "../../../../test/seed/api-server.ts";
import { freshDatabase, type TestDatabase } from "../../../../test/services/database.ts";
import { type HttpServer, startHttpServer } from "../../../api/src/http-server.ts";
import type { Viewer } from "../../../api/src/viewer.ts";

const key = "millrace_test_key";
const everything: Viewer = { projects: "all" };
const nothing: Viewer = { projects: new Set() };

let fresh: TestDatabase;
let api: ApiServer;
let http: HttpServer;
let pipeline: LocalPipeline;
let place: Place;
let session: Session;

beforeAll(async () => {
  fresh = await freshDatabase();
  pipeline = await startLocalPipeline(fresh.url);
  const viewerOf = async (request: Request): Promise<Viewer> =>
    request.headers.get("x-api-key") === key ? everything : nothing;
  api = await apiServer({ databaseUrl: fresh.url, viewerOf });
  const { fetch } = api.app;
  http = await startHttpServer({
    fetch: (request) => fetch(request),
    host: "127.0.0.1",
    port: 0,
    clock: systemClock,
  });
});

afterAll(async () => {
  await http.stop();
  await api[Symbol.asyncDispose]();
  await pipeline.close();
  await fresh.drop();
});

beforeEach(async () => {
  place = new Place();
  session = await open(key);
});

afterEach(async () => {
  await session.close();
  place.remove();
});

/** A server of ours that is told of the Millrace server. */
function open(apiKey: string, url = `http://127.0.0.1:${http.port}`): Promise<Session> {
  const config = place.config([`server_api_key = ${JSON.stringify(apiKey)}`]);
  return Session.open(place, ["--server", url, "--config", config]);
}

let streams = 0;

/** A recorded build under an id of its own. */
function recorded(name: string, project = "default"): UploadedStream {
  const [stream] = uploadsOf(getRun(name), project);
  streams += 1;
  return { ...(stream as UploadedStream), invocationId: `stream-${streams}-${name}` };
}

const inspect = (args: Record<string, unknown>): Promise<Answer> => session.call("bazel_inspect", args);
const items = (answer: Answer): Record<string, unknown>[] =>
  (answer.fields["items"] ?? []) as Record<string, unknown>[];

test("a failed build of the server is looked into like one of here", async () => {
  const stream = recorded("bazel4-test-bad");
  await pipeline.upload(stream);
  const at = { invocation_id: stream.invocationId };
  const [summary] = items(await inspect({ ...at, view: "summary" }));
  expect(summary).toMatchObject({ state: "failed", command: "test" });
  expect(JSON.stringify(summary?.["diagnostics"])).toContain("something broke");
  const failing = items(await inspect({ ...at, view: "tests", filter: "//bad/..." }));
  expect(failing.map((one) => one["status"])).toContain("failed");
  const log = await inspect({ ...at, view: "log", limit: 100 });
  expect(log.text).toContain("//bad:fail_test");
  expect(items(await inspect({ ...at, view: "targets" })).length).toBeGreaterThan(0);
  expect((await inspect({ ...at, view: "metrics" })).text).toMatch(/"bep_events":\d\d/);
  // A page goes on where the one before ended, over a copy that is made once.
  const first = await inspect({ ...at, view: "log", limit: 2 });
  const second = await inspect({ ...at, view: "log", limit: 2, cursor: first.fields["next_cursor"] });
  expect(second.isError).toBe(false);
  expect(second.fields["items"]).not.toEqual(first.fields["items"]);
});

test("two builds of the server are compared", async () => {
  const [good, bad] = [recorded("bazel4-test-ok"), recorded("bazel4-test-bad")];
  await pipeline.upload(good);
  await pipeline.upload(bad);
  const answer = await session.call("bazel_compare", { base: good.invocationId, other: bad.invocationId });
  expect(answer.text).toContain("new failures");
  expect(answer.fields["new_failures"]).toContain("//bad:fail_test");
});

test("builds of a project are listed, page by page, by state, within the budget", async () => {
  const project = "listed";
  for (let count = 0; count < 7; count += 1) {
    await pipeline.upload(recorded(count % 2 === 0 ? "bazel4-test-bad" : "bazel4-test-ok", project));
  }
  const seen: unknown[] = [];
  for (let cursor: unknown; ; ) {
    const more = cursor === undefined ? {} : { cursor };
    const page = await inspect({ view: "invocations", project, max_bytes: 1024, ...more });
    expect(page.bytes).toBeLessThanOrEqual(1024);
    seen.push(...items(page).map((one) => one["invocation_id"]));
    cursor = page.fields["next_cursor"];
    if (cursor === undefined) break;
  }
  expect(seen).toHaveLength(7);
  expect(new Set(seen).size).toBe(7);
  const failed = items(await inspect({ view: "invocations", project, state: "failed", command: "test" }));
  expect(failed.map((one) => one["state"])).toEqual(["failed", "failed", "failed", "failed"]);
});

test("a running build is followed to its end", async () => {
  const stream = recorded("bazel4-test-bad");
  const half = Math.floor(stream.events.length / 2);
  await pipeline.upload(stream, { from: 1, to: half, breaks: true });
  const at = { invocation_id: stream.invocationId, view: "summary" };
  const [early] = items(await inspect(at));
  expect(early).toMatchObject({ state: "running" });
  expect(early?.["headline"]).toContain("running for");
  const waiting = inspect({ ...at, wait_ms: 100_000 });
  await pipeline.upload(stream, { from: half + 1, to: stream.events.length, breaks: false });
  expect(items(await waiting)[0]).toMatchObject({ state: "failed" });
});

test("files that a build elsewhere names are not read here", async () => {
  const base = path.join(place.home, "base");
  mkdirSync(base);
  writeFileSync(path.join(base, "test.log"), "words of this machine\n");
  const id = { testResult: { label: "//a:t", run: 1, shard: 1, attempt: 1, configuration: { id: "c" } } };
  const events: build_event_stream.IBuildEvent[] = [
    { id: { workspace: {} }, workspaceInfo: { localExecRoot: path.join(base, "execroot/ws") } },
    {
      id,
      testResult: {
        status: build_event_stream.TestStatus.FAILED,
        testActionOutput: [{ name: "test.log", uri: `file://${path.join(base, "test.log")}` }],
      },
    },
    {
      id: { buildFinished: {} },
      finished: { exitCode: { name: "TESTS_FAILED", code: 3 } },
      lastMessage: true,
    },
  ];
  const payloads = events.map((event) => build_event_stream.BuildEvent.encode(event).finish());
  const invocationId = "names-local-files";
  await pipeline.upload({
    project: "default",
    invocationId,
    buildId: "b",
    events: eventsOfPayloads(payloads),
  });
  const at = { invocation_id: invocationId };
  const tests = await inspect({ ...at, view: "tests" });
  expect(items(tests)[0]).toMatchObject({
    test_log_available: false,
    test_log_unavailable_reason: "remote_test_log_unavailable",
  });
  expect((await inspect({ ...at, view: "test_log" })).isError).toBe(true);
  expect(items(await inspect({ ...at, view: "artifacts" }))[0]).toMatchObject({ locally_available: false });
  expect((await inspect({ ...at, view: "summary" })).text).not.toContain("words of this machine");
});

test("an id that several projects hold is asked back; one that nobody holds is told so", async () => {
  const stream = recorded("bazel4-nobuild");
  await pipeline.upload({ ...stream, project: "one" });
  await pipeline.upload({ ...stream, project: "two" });
  const at = { invocation_id: stream.invocationId, view: "summary" };
  expect((await inspect(at)).text).toContain("give project, one of one, two");
  expect((await inspect({ ...at, project: "two" })).isError).toBe(false);
  const unknown = await inspect({ invocation_id: "nobody-has-it", view: "summary" });
  expect(unknown.text).toContain(`neither here nor on http://127.0.0.1:${http.port}`);
});

test("without the key nothing is shown, and a server that is away is told as such", async () => {
  const stream = recorded("bazel4-nobuild");
  await pipeline.upload(stream);
  const at = { invocation_id: stream.invocationId, view: "summary" };
  const stranger = await open("wrong");
  expect((await stranger.call("bazel_inspect", at)).text).toContain("no invocation");
  await stranger.close();
  const lonely = await open(key, "http://127.0.0.1:9");
  expect((await lonely.call("bazel_inspect", at)).text).toContain("does not answer");
  await lonely.close();
});

test("copies end with the process that made them, however it ends", async () => {
  const stream = recorded("bazel4-nobuild");
  await pipeline.upload(stream);
  const killed = await open(key);
  await killed.call("bazel_inspect", { invocation_id: stream.invocationId, view: "summary" });
  const copies = (): string[] => readdirSync(path.join(place.cacheRoot, "of-server"));
  expect(copies()).toHaveLength(1);
  process.kill(killed.pid, "SIGKILL");
  const next = await open(key);
  await until(() => copies().length === 0);
  await next.call("bazel_inspect", { invocation_id: stream.invocationId, view: "summary" });
  expect(copies()).toHaveLength(1);
  await next.close();
  await until(() => copies().length === 0);
});
