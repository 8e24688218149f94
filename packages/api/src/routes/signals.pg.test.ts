import { connect } from "@millrace/db/connect";
import type { SignalAnswer, SignalCommand } from "@millrace/proto/channels";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type ApiServer, apiServer } from "../../../../test/seed/api-server.ts";
import { freshDatabase, type TestDatabase } from "../../../../test/services/database.ts";

let store: TestDatabase;
let server: ApiServer;
let stranger: ApiServer;
let closed: ApiServer;

/** What the controller was asked, and what it says. */
let asked: SignalCommand[];
let answer: SignalAnswer;

const signals = {
  adminToken: "the token",
  send: async (command: SignalCommand) => {
    asked.push(command);
    return answer;
  },
};

beforeAll(async () => {
  store = await freshDatabase();
  server = await apiServer({ databaseUrl: store.url, signals });
  const viewerOf = async () => ({ projects: new Set(["elsewhere"]) });
  stranger = await apiServer({ databaseUrl: store.url, signals, viewerOf });
  closed = await apiServer({ databaseUrl: store.url, signals: { ...signals, adminToken: "" } });
  const database = connect({ url: store.url, max: 1, name: "test" });
  await database.sql.unsafe(`
    insert into signal_queue_configs (name, project_id, origin, config, version, updated_at) values
      ('main', 'default', 'file', '{"runner":{"kind":"millrace","secret":"x"},"max_concurrent":2}', 1, '2030-01-01Z'),
      ('new', 'default', 'api', '{"runner":{"kind":"fake"}}', 3, '2030-01-01Z');
    insert into signal_queues (name, project_id, last_green_uri, last_green_request_id, latest_request_id, slots, version)
      values ('main', 'default', 'c1', 'request/main/1', 'request/main/5',
        '[{"owner":"request/main/4","claimedAtMs":1893456000000,"expiresAtMs":1893459600000}]', 9),
      ('gone', 'default', '', '', '', '[]', 1), ('theirs', 'elsewhere', '', '', '', '[]', 1);
    insert into signal_gates values ('process', 'main', 'repairs', '2030-01-02Z'), ('build', 'gone', '', now());
    insert into signal_builds (id, queue, handle, request_id, status, url, metadata, created_at, deadline_at, version)
      values ('main/b', 'main', 'b', 'request/main/4', 'running', 'http://ci/4', '{"invocationId":"i-4"}',
        '2030-01-01Z', '2030-01-02Z', 1);
    insert into signal_requests (id, queue, number, uri, state, reason, build_id, created_at, version)
      select 'request/main/' || n, 'main', n, 'c' || n, state, reason, build, '2030-01-01Z', 1 from (values
        (1, 'succeeded', null, null), (2, 'failed', null, null), (3, 'failed', 'timed_out', null),
        (4, 'processing', null, 'main/b'), (5, 'accepted', null, null)) v(n, state, reason, build);
    insert into signal_facts (queue, uri, degree, request_id, created_at) values
      ('main', 'c1', 0, 'request/main/1', now()), ('main', 'c2', 1, 'request/main/2', now()),
      ('main', 'c3', 1, 'another', now());
    insert into signal_request_log (request_id, queue, at, who, from_state, to_state, reason) values
      ('request/main/3', 'main', '2030-01-01T00:00:00Z', 'ingest', '', 'accepted', null),
      ('request/main/3', 'main', '2030-01-01T01:00:00Z', 'buildsignal', 'processing', 'failed', 'timed_out');
    insert into signal_dead_letters (topic, group_name, partition_key, message_id, payload, metadata, state, failures,
        first_reason, last_reason, first_failed_at, last_failed_at)
      select 'build', 'millrace-build', id, id, payload::jsonb, '{}', state, 8, 'first', 'last', now(), now()
      from (values ('request/main/2', '{"queue_name":"main"}', 'open'), ('request/main/3', '{"queue_name":"main"}', 'redriven'),
        ('bad', '{}', 'open'), ('request/theirs/1', '{"queue_name":"theirs"}', 'open')) v(id, payload, state)`);
  await database.close();
});
afterAll(async () => {
  for (const one of [server, stranger, closed]) await one[Symbol.asyncDispose]();
  await store.drop();
});
beforeEach(() => {
  asked = [];
  answer = { kind: "ok" };
});

const get = async (path: string, of: ApiServer = server) => {
  const response = await of.fetch(`/api/v1${path}`);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const list = async (path: string, of?: ApiServer) => (await get(path, of)).body;

/** Every page of a list, one row at a time. */
async function pages(path: string, key: string): Promise<Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  for (let cursor = ""; ; ) {
    const page = await list(`${path}${path.includes("?") ? "&" : "?"}limit=1${cursor}`);
    all.push(...(page[key] as Record<string, unknown>[]));
    if (page["nextCursor"] === null) return all;
    cursor = `&cursor=${page["nextCursor"]}`;
  }
}

test("a queue shows its slots, what waits, its last green commit, and that it is stopped", async () => {
  expect(await get("/queues/main")).toEqual({
    status: 200,
    body: {
      name: "main",
      project: "default",
      origin: "file",
      runner: "millrace",
      maxConcurrent: 2,
      maxValidationMs: null,
      slots: [
        {
          requestId: "request/main/4",
          number: 4,
          claimedAt: "2030-01-01T00:00:00.000Z",
          expiresAt: "2030-01-01T01:00:00.000Z",
        },
      ],
      waiting: 1,
      inProgress: 1,
      openLetters: 1,
      latestRequestId: "request/main/5",
      lastGreenUri: "c1",
      lastGreenRequestId: "request/main/1",
      nextAdmissionAt: null,
      stopped: { since: "2030-01-02T00:00:00.000Z", reason: "repairs" },
    },
  });
});

test("queues are listed by name, page by page: configured, used, or both", async () => {
  const all = await pages("/queues", "queues");
  expect(all.map((queue) => [queue["name"], queue["origin"], queue["stopped"] !== null])).toEqual([
    ["gone", null, false],
    ["main", "file", true],
    ["new", "api", false],
    ["theirs", null, false],
  ]);
  const named = (body: Record<string, unknown>) =>
    (body["queues"] as { name: string }[]).map((queue) => queue.name);
  expect(named(await list("/queues?project=elsewhere"))).toEqual(["theirs"]);
  expect(named(await list("/queues", stranger))).toEqual(["theirs"]);
});

test("requests are listed newest first, page by page, and by state", async () => {
  const all = await pages("/queues/main/requests", "requests");
  expect(all.map((one) => [one["number"], one["state"], one["reason"], one["verdict"]])).toEqual([
    [5, "accepted", null, null],
    [4, "processing", null, null],
    [3, "failed", "timed_out", null],
    [2, "failed", null, "broken"],
    [1, "succeeded", null, "green"],
  ]);
  expect(all[1]).toMatchObject({ build: { id: "main/b", url: "http://ci/4", invocationId: "i-4" } });
  expect(all[2]).toMatchObject({ endedAt: "2030-01-01T01:00:00.000Z", build: null });
  const failed = await pages("/queues/main/requests?state=failed", "requests");
  expect(failed.map((one) => one["number"])).toEqual([3, 2]);
  expect(await get("/queues/gone/requests")).toMatchObject({ status: 200, body: { requests: [] } });
});

test("a request tells every change of its state and its builds", async () => {
  expect((await get("/queues/main/requests/3")).body).toMatchObject({
    log: [
      { who: "ingest", from: "", to: "accepted" },
      { who: "buildsignal", from: "processing", to: "failed", reason: "timed_out" },
    ],
  });
  expect((await get("/queues/main/requests/4")).body).toMatchObject({
    builds: [{ id: "main/b", status: "running" }],
  });
  expect((await get("/queues/main/requests/99")).status).toBe(404);
});

test("dead letters are listed newest first, by state and by queue", async () => {
  const all = await pages("/signal/dead-letters", "letters");
  expect(all.map((one) => [one["id"], one["queue"], one["state"]])).toEqual([
    [4, "theirs", "open"],
    [3, null, "open"],
    [2, "main", "redriven"],
    [1, "main", "open"],
  ]);
  const open = await list("/signal/dead-letters?queue=main&state=open");
  expect(open["letters"]).toMatchObject([{ id: 1, stage: "build", attempts: 8, lastReason: "last" }]);
  expect((await list("/signal/dead-letters", stranger))["letters"]).toMatchObject([{ id: 4 }]);
});

test.each(["/queues/main", "/queues/main/requests", "/queues/main/requests/1"])(
  "%s of another project is not here",
  async (path) => {
    expect((await get(path, stranger)).status).toBe(404);
  },
);

test.each(["/queues", "/queues/main/requests", "/signal/dead-letters"])(
  "%s refuses a cursor that it did not give out",
  async (path) => {
    expect(await get(`${path}?cursor=e30`)).toMatchObject({ status: 400, body: { code: "bad-cursor" } });
  },
);

const key = { authorization: "Bearer the token", "content-type": "application/json" };
const send = (method: string, path: string, body?: unknown, of: ApiServer = server, headers = {}) =>
  of.fetch(`/api/v1${path}`, {
    method,
    headers: { ...key, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

const letter = {
  topic: "build",
  group: "millrace-build",
  key: "request/main/2",
  messageId: "request/main/2",
};
const writes: [string, string, unknown, SignalCommand][] = [
  ["POST", "/queues/main/requests", { uri: "c9" }, { kind: "ingest", queue: "main", uri: "c9" }],
  ["POST", "/queues/main/requests/4/cancel", undefined, { kind: "cancel", requestId: "request/main/4" }],
  ["POST", "/signal/dead-letters/1/redrive", undefined, { kind: "redrive", letter }],
  ["POST", "/signal/dead-letters/1/discard", undefined, { kind: "discard", letter }],
  [
    "PUT",
    "/queues/main/gate",
    { reason: "r" },
    { kind: "close-gate", stage: "process", key: "main", reason: "r" },
  ],
  ["DELETE", "/queues/main/gate", undefined, { kind: "open-gate", stage: "process", key: "main" }],
  [
    "PUT",
    "/queues/new/configuration",
    { configuration: { runner: { kind: "fake" } }, version: 3 },
    { kind: "configure", queue: "new", config: { runner: { kind: "fake" } }, version: 3 },
  ],
  ["DELETE", "/queues/new/configuration", undefined, { kind: "unconfigure", queue: "new" }],
];

test.each(writes)("%s %s is asked of the controller", async (method, path, body, command) => {
  answer = { kind: "ok", requestId: "request/main/9", state: "accepted" };
  const response = await send(method, path, body);
  expect([response.status, await response.json()]).toEqual([
    200,
    { requestId: "request/main/9", state: "accepted", version: null },
  ]);
  expect(asked).toEqual([command]);
});

test.each(writes)("%s %s needs the admin token", async (method, path, body) => {
  const wrong = await send(method, path, body, server, { authorization: "Bearer the tokens" });
  expect([wrong.status, wrong.headers.get("www-authenticate")]).toEqual([401, 'Bearer realm="millrace"']);
  expect((await send(method, path, body, server, { authorization: "" })).status).toBe(401);
  const nobody = await send(method, path, body, closed, { authorization: "Bearer " });
  expect([nobody.status, await nobody.json()]).toMatchObject([403, { code: "no-admin-token" }]);
  expect(asked).toEqual([]);
});

test("a configuration is shown to who administers, and to nobody else", async () => {
  expect(await (await send("GET", "/queues/new/configuration")).json()).toEqual({
    queue: "new",
    origin: "api",
    version: 3,
    updatedAt: "2030-01-01T00:00:00.000Z",
    configuration: { runner: { kind: "fake" } },
  });
  expect((await get("/queues/new/configuration")).status).toBe(401);
  expect((await send("GET", "/queues/new/configuration", undefined, stranger)).status).toBe(404);
});

test.each([
  ["unknown-queue", 404],
  ["version-mismatch", 409],
  ["busy", 409],
  ["invalid-configuration", 400],
])("a refusal of code %s is a %i", async (code, status) => {
  answer = { kind: "refused", code, message: "because" };
  const response = await send("DELETE", "/queues/new/configuration");
  expect([response.status, await response.json()]).toMatchObject([status, { code, detail: "because." }]);
});

test.each(writes)(
  "%s %s is not there for an administrator of another project",
  async (method, path, body) => {
    expect((await send(method, path, body, stranger)).status).toBe(404);
    expect(asked).toEqual([]);
  },
);

test("a new queue is made in a project that its administrator may see", async () => {
  const into = (project: string) =>
    send("PUT", "/queues/fresh/configuration", { configuration: { project } }, stranger);
  expect([(await into("default")).status, (await into("elsewhere")).status]).toEqual([404, 200]);
});
