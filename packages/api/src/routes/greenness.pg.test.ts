import { connect } from "@millrace/db/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ApiServer, apiServer } from "../../../../test/seed/api-server.ts";
import { freshDatabase, type TestDatabase } from "../../../../test/services/database.ts";
import { findCommit } from "../queries/greenness.ts";

let store: TestDatabase;
let server: ApiServer;

beforeAll(async () => {
  store = await freshDatabase();
  server = await apiServer({ databaseUrl: store.url });
  const database = connect({ url: store.url, max: 1, name: "test" });
  await database.sql.unsafe(`
    insert into signal_queues (name, project_id, last_green_uri, version) values ('main', 'default', 'green', 1);
    insert into signal_builds (id, queue, handle, request_id, status, url, created_at, deadline_at, version)
      values ('main/b', 'main', 'b', 'request/main/1', 'succeeded', 'http://ci/1', now(), now(), 1);
    insert into signal_requests (id, queue, number, uri, state, reason, build_id, created_at, version) values
      ('request/main/1', 'main', 1, 'green', 'succeeded', null, 'main/b', now(), 1),
      ('request/main/2', 'main', 2, 'broken', 'failed', null, null, now(), 1),
      ('request/main/3', 'main', 3, 'slow', 'failed', 'timed_out', null, now(), 1),
      ('request/main/4', 'main', 4, 'new', 'accepted', null, null, now(), 1),
      ('request/main/5', 'main', 5, 'running', 'processing', null, null, now(), 1),
      ('request/main/6', 'main', 6, 'old', 'superseded', null, null, now(), 1),
      ('request/main/7', 'main', 7, 'ended', 'succeeded', null, null, now(), 1);
    insert into signal_request_uris (queue, uri, request_id, version)
      select queue, uri, id, 1 from signal_requests;
    insert into signal_facts (queue, uri, degree, request_id, created_at) values
      ('main', 'green', 0, 'request/main/1', '2030-01-01Z'), ('main', 'broken', 1, 'request/main/2', now())`);
  await database.close();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await store.drop();
});

const ask = async (queue: string, uri: string) => {
  const answer = await server.fetch(`/api/v1/queues/${queue}/greenness?uri=${encodeURIComponent(uri)}`);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Record<string, unknown>;
};

test("a green commit is green, with its request, its build and when that was recorded", async () => {
  expect(await ask("main", "green")).toEqual({
    queue: "main",
    uri: "green",
    greenness: "green",
    reason: null,
    requestId: "request/main/1",
    state: "succeeded",
    buildUrl: "http://ci/1",
    recordedAt: "2030-01-01T00:00:00.000Z",
    lastGreenUri: "green",
  });
});

test.each([
  ["main", "broken", "broken"],
  ["main", "slow", "timed_out"],
  ["main", "new", "waiting"],
  ["main", "running", "in_progress"],
  ["main", "old", "superseded"],
  ["main", "ended", "being_recorded"],
  ["main", "never heard of", "not_announced"],
  ["other", "green", "unknown_queue"],
])("in %s, %s is not green: %s", async (queue, uri, reason) => {
  expect(await ask(queue, uri)).toMatchObject({ greenness: "not_green", reason });
});

test("a queue of another project is one that is not known", async () => {
  const database = connect({ url: store.url, max: 1, name: "test" });
  const stranger = { projects: new Set(["elsewhere"]) };
  const which = { queue: "main", uri: "green" };
  expect(await findCommit(database.orm, stranger, which)).toBeUndefined();
  expect(await findCommit(database.orm, { projects: new Set(["default"]) }, which)).toMatchObject({
    degree: 0,
  });
  await database.close();
});
