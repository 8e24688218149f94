import { randomUUID } from "node:crypto";
import { systemRandom } from "@millrace/base/random";
import { createKey, type KeyScope, keyDigest } from "@millrace/db/api-keys";
import { connect, type Database } from "@millrace/db/connect";
import { drizzle } from "drizzle-orm/postgres-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ApiServer, apiServer } from "../../../../test/seed/api-server.ts";
import { seedBuild } from "../../../../test/seed/seed-build.ts";
import { freshDatabase, type TestDatabase } from "../../../../test/services/database.ts";
import { keyMode } from "../key-mode.ts";

const invocationId = randomUUID();
const build = `projects/default/invocations/${invocationId}`;
const adminToken = "the-admin-token";
const command = { answer: "admin" } as const;

/** Each route of the API: how it is asked, and what somebody of another project is answered who asks the same. */
const routes: Readonly<
  Record<string, { ask: string; body?: object; answer: "same for all" | "none of it" | 404 | "admin" }>
> = {
  "GET openapi.json": { ask: "openapi.json", answer: "same for all" },
  "GET server": { ask: "server", answer: "same for all" },
  "GET query-fields": { ask: "query-fields", answer: "same for all" },
  "GET projects": { ask: "projects", answer: "none of it" },
  "GET projects/:project/builds": { ask: "projects/default/builds", answer: 404 },
  "GET projects/:project/builds/facets": { ask: "projects/default/builds/facets", answer: 404 },
  "GET projects/:project/builds/values": { ask: "projects/default/builds/values?field=user", answer: 404 },
  "GET projects/:project/live": { ask: "projects/default/live", answer: 404 },
  "GET invocations/:invocationId": { ask: `invocations/${invocationId}`, answer: 404 },
  "GET projects/:project/invocations/:invocationId": { ask: build, answer: 404 },
  ...Object.fromEntries(
    ["actions", "details", "events", "bep", "live", "log", "metrics", "targets", "tests"].map((part) => [
      `GET projects/:project/invocations/:invocationId/${part}`,
      { ask: `${build}/${part}`, answer: 404 as const },
    ]),
  ),
  "GET projects/:project/invocations/:invocationId/outputs": {
    ask: `${build}/outputs?label=//a&configuration=k8-fastbuild`,
    answer: 404,
  },
  "GET projects/:project/invocations/:invocationId/test-results": {
    ask: `${build}/test-results?label=//a`,
    answer: 404,
  },
  "GET queues": { ask: "queues", answer: "none of it" },
  "GET queues/:queue": { ask: "queues/secret-queue", answer: 404 },
  "GET queues/:queue/requests": { ask: "queues/secret-queue/requests", answer: 404 },
  "GET queues/:queue/requests/:number": { ask: "queues/secret-queue/requests/1", answer: 404 },
  // A queue that one may not see is one that is not there: nothing of it is green.
  "GET queues/:queue/greenness": { ask: "queues/secret-queue/greenness?uri=c1", answer: "none of it" },
  "GET signal/dead-letters": { ask: "signal/dead-letters", answer: "none of it" },
  "GET queues/:queue/configuration": { ask: "queues/secret-queue/configuration", ...command },
  "PUT queues/:queue/configuration": {
    ask: "queues/secret-queue/configuration",
    body: { configuration: {} },
    ...command,
  },
  "DELETE queues/:queue/configuration": { ask: "queues/secret-queue/configuration", ...command },
  "POST queues/:queue/requests": { ask: "queues/secret-queue/requests", body: { uri: "c2" }, ...command },
  "POST queues/:queue/requests/:number/cancel": { ask: "queues/secret-queue/requests/1/cancel", ...command },
  "PUT queues/:queue/gate": { ask: "queues/secret-queue/gate", body: {}, ...command },
  "DELETE queues/:queue/gate": { ask: "queues/secret-queue/gate", ...command },
  "POST signal/dead-letters/:id/:what": { ask: "signal/dead-letters/1/discard", ...command },
};
/** What would be in the answers of those routes. */
const secrets = /"id":"default"|"(name|queue_name)":"secret-queue"|secret-green/;

const names = Object.keys(routes);

/**
 * Statements that need no restriction: the look-up of the key, and reads by the name or the id of what a statement
 * with a restriction has found before.
 */
const unrestricted: readonly RegExp[] = [
  /from "api_keys"|update "api_keys"/,
  /from "signal_builds" where "signal_builds"."request_id" = /,
  /from "signal_request_log" where "signal_request_log"."request_id" = /,
  /from "signal_dead_letters" where \("signal_dead_letters"."state" = \$1 and coalesce/,
];

let store: TestDatabase;
let server: ApiServer;
let closeKeys: () => Promise<void>;
const statements: string[] = [];
const keys: Record<string, string> = {};

beforeAll(async () => {
  store = await freshDatabase();
  const forKeys = connect({ url: store.url, max: 1, name: "keys" });
  server = await apiServer({
    databaseUrl: store.url,
    viewerOf: keyMode({ orm: forKeys.orm, adminToken }),
    ormOf: (database: Database) =>
      drizzle(database.sql, { logger: { logQuery: (text) => statements.push(text) } }),
    signals: { adminToken, send: async () => ({ kind: "done" }) as never },
  });
  await forKeys.sql`insert into projects (id, name) values ('elsewhere', 'elsewhere')`;
  const seeded = await seedBuild(server, { invocationId });
  await seeded.targets([{ label: "//a", status: "built" }]);
  await forKeys.sql.unsafe(`
    insert into signal_queue_configs (name, project_id, origin, config, version, updated_at)
      values ('secret-queue', 'default', 'api', '{"runner":{"kind":"fake"}}', 1, now());
    insert into signal_queues (name, project_id, last_green_uri, last_green_request_id, latest_request_id, slots, version)
      values ('secret-queue', 'default', 'secret-green', '', '', '[]', 1);
    insert into signal_requests (id, queue, number, uri, state, created_at, version)
      values ('request/secret-queue/1', 'secret-queue', 1, 'c1', 'accepted', now(), 1)`);
  const make = async (project: string, scopes: KeyScope[], expiresInSeconds?: number) =>
    (await createKey(forKeys.orm, { projectId: project, name: "", scopes, expiresInSeconds }, systemRandom))
      ?.text ?? "";
  keys.viewer = await make("default", ["read"]);
  keys.projectAdmin = await make("default", ["read", "admin"]);
  keys.other = await make("elsewhere", ["read", "admin", "ingest", "upload"]);
  keys.expired = await make("default", ["read"], 0);
  keys.wrongScope = await make("default", ["ingest", "upload"]);
  keys.revoked = await make("default", ["read"]);
  const sha256 = Buffer.from(keyDigest(keys.revoked));
  await forKeys.sql.unsafe("update api_keys set revoked_at = now() where key_sha256 = $1", [sha256]);
  closeKeys = () => forKeys.close();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await closeKeys();
  await store.drop();
});

async function ask(name: string, headers: Record<string, string>): Promise<{ status: number; text: string }> {
  const route = routes[name];
  const response = await server.fetch(`/api/v1/${route?.ask}`, {
    method: name.split(" ")[0] ?? "",
    headers: { ...headers, ...(route?.body && { "content-type": "application/json" }) },
    ...(route?.body && { body: JSON.stringify(route.body) }),
  });
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  if (isStream) await response.body?.cancel();
  return { status: response.status, text: isStream ? "" : await response.text() };
}
const withKey = (whose: string) => ({ "x-api-key": keys[whose] ?? "" });

test("every route that is there stands in the list above, and no other", () => {
  const there = server.app.routes
    .filter(({ method, path }) => method !== "ALL" && path.startsWith("/api/v1/"))
    .map(({ method, path }) => `${method} ${path.slice("/api/v1/".length)}`);
  expect([...new Set(there)].sort()).toEqual([...names].sort());
});

describe.each(names)("%s", (name) => {
  const answer = routes[name]?.answer;

  test("tells nothing to whom it does not know", async () => {
    expect((await ask(name, {})).status).toBe(401);
    expect((await ask(name, { "x-api-key": "millrace_0_0" })).status).toBe(401);
    expect((await ask(name, { authorization: "Basic !" })).status).toBe(401);
    expect((await ask(name, withKey("expired"))).status).toBe(401);
    expect((await ask(name, withKey("revoked"))).status).toBe(401);
    expect((await ask(name, withKey("wrongScope"))).status).toBe(403);
  });

  test("answers those of the project", async () => {
    for (const whose of ["viewer", "projectAdmin"]) {
      expect((await ask(name, withKey(whose))).status, whose).toBe(answer === "admin" ? 401 : 200);
    }
  });

  test("shows nothing to those of another project", async () => {
    const { status, text } = await ask(name, withKey("other"));
    expect(status).toBe(answer === "admin" ? 401 : answer === 404 ? 404 : 200);
    if (answer === "none of it") expect(text).not.toMatch(secrets);
  });

  test("is open to the global admin", async () => {
    const { status } = await ask(name, { authorization: `Bearer ${adminToken}` });
    expect([401, 403]).not.toContain(status);
  });

  test("reads by statements that carry the project", async () => {
    statements.length = 0;
    await ask(name, withKey("viewer"));
    const open = statements.filter(
      (text) => !(/"project_id" = any\(|"projects"."id" = any\(/.test(text) || isUnrestricted(text)),
    );
    expect(open).toEqual([]);
  });
});

function isUnrestricted(statement: string): boolean {
  return unrestricted.some((pattern) => pattern.test(statement));
}

test("a browser's Basic reads, and changes nothing", async () => {
  const basic = (password: string) => ({ authorization: `Basic ${btoa(`anybody:${password}`)}` });
  expect((await ask("GET projects/:project/builds", basic(keys.viewer ?? ""))).status).toBe(200);
  expect((await ask("GET projects/:project/builds", basic(keys.other ?? ""))).status).toBe(404);
  expect((await ask("GET projects/:project/builds", basic(adminToken))).status).toBe(200);
  expect((await ask("PUT queues/:queue/gate", basic(adminToken))).status).toBe(401);
});
