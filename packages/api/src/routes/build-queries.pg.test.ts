import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ApiServer, apiServer } from "../../../../test/seed/api-server.ts";
import { type SeedBuild, seedBuild } from "../../../../test/seed/seed-build.ts";
import { freshDatabase, type TestDatabase } from "../../../../test/services/database.ts";

let store: TestDatabase;
let server: ApiServer;
let stranger: ApiServer;

const start = Date.parse("2026-11-30T10:00:00Z");

beforeAll(async () => {
  store = await freshDatabase();
  server = await apiServer({ databaseUrl: store.url });
  stranger = await apiServer({
    databaseUrl: store.url,
    viewerOf: async () => ({ projects: new Set(["elsewhere"]) }),
  });
  await server.database.sql`insert into projects (id, name) values ('elsewhere', 'Elsewhere')
    on conflict do nothing`;
  // Durations in s: none, 5, 1, 5, 3; a build of another project would be in every list.
  await seed({ row: { user: "ann", branch: "main", command: "build" } });
  await ended({ user: "ann", branch: "release/1", command: "test" }, 5);
  await ended({ user: "Ben", branch: "main", command: "test", patterns: ["//büro/..."] }, 1);
  await ended({ user: "ben", branch: null, command: "build" }, 5);
  await ended({ user: "a,b", branch: "", command: "run" }, 3);
  await seed({ project: "elsewhere", row: { user: "ann", branch: "secret" } });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await stranger[Symbol.asyncDispose]();
  await store.drop();
});

function seed(build: Partial<SeedBuild>) {
  return seedBuild(server, { invocationId: randomUUID(), ...build });
}

async function ended(row: NonNullable<SeedBuild["row"]>, seconds: number): Promise<void> {
  const build = await seed({ row: { ...row, startedAt: new Date(start) } });
  await build.end({
    status: seconds === 3 ? "failed" : "succeeded",
    finishedAt: new Date(start + 1_000 * seconds),
  });
}

const base = "/api/v1/projects/default/builds";

async function get<T>(path: string): Promise<T> {
  const response = await server.fetch(path);
  expect(response.status, await response.clone().text()).toBe(200);
  return (await response.json()) as T;
}

interface Page {
  builds: { user: string; durationMs: number | null }[];
  nextCursor: string | null;
}

async function users(query: string): Promise<string[]> {
  const page = await get<Page>(`${base}?query=${encodeURIComponent(query)}`);
  return page.builds.map((build) => build.user);
}

describe("the list of builds takes a query", () => {
  test.each([
    ["user:ann", ["ann", "ann"]],
    ["user:ben,/^BE/i", ["ben", "Ben"]],
    ['user:"a,b"', ["a,b"]],
    ["-user:ann status:succeeded", ["ben", "Ben"]],
    ["duration:>=5s", ["ben", "ann"]],
    ["-has:branch", ["a,b", "ben"]],
    ["branch:release/* OR status:failed", ["a,b", "ann"]],
    ["BüRO", ["Ben"]],
    ["created:>1h", []],
    ["created:<1h command:run", ["a,b"]],
  ])("%s", async (query, expected) => {
    expect(await users(query)).toEqual(expected);
  });

  test("together with the plain filters", async () => {
    const page = await get<Page>(`${base}?user=ann&query=${encodeURIComponent("status:running")}`);
    expect(page.builds).toHaveLength(1);
  });

  test.each(["newest", "oldest", "longest", "shortest"])(
    "%s: pages go on without hole or double",
    async (sort) => {
      const whole = await get<Page>(`${base}?sort=${sort}`);
      const pieces: Page["builds"] = [];
      let cursor: string | null = "";
      while (cursor !== null) {
        const page: Page = await get(
          `${base}?sort=${sort}&limit=1${cursor === "" ? "" : `&cursor=${cursor}`}`,
        );
        pieces.push(...page.builds);
        cursor = page.nextCursor;
      }
      expect(pieces).toEqual(whole.builds);
      const seconds = whole.builds.map(({ durationMs }) => durationMs ?? 0).map((ms) => ms / 1000);
      if (sort === "longest") expect(seconds).toEqual([5, 5, 3, 1]);
      if (sort === "shortest") expect(seconds).toEqual([1, 3, 5, 5]);
    },
  );

  test("a cursor of one order is none of another", async () => {
    const { nextCursor } = await get<Page>(`${base}?limit=1`);
    const response = await server.fetch(`${base}?sort=longest&cursor=${nextCursor}`);
    expect([response.status, await response.json()]).toMatchObject([400, { code: "bad-cursor" }]);
  });
});

describe("a query that is not understood", () => {
  test.each([base, `${base}/facets`, "/api/v1/projects/default/live"])(
    "is a 400 with its place: %s",
    async (path) => {
      const response = await server.fetch(`${path}?query=${encodeURIComponent("user:ann stauts:failed")}`);
      expect(response.status).toBe(400);
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      expect(await response.json()).toMatchObject({
        code: "invalid-query",
        errors: [{ path: "query.query", from: 9, to: 15, message: expect.stringContaining("stauts") }],
      });
    },
  );

  test.each([
    "%00",
    "user:/a{1,200}/",
    "x".repeat(9_000),
    "%ED%A0%80:",
    "exit:>9e99",
    "((((",
    "started:>99999999w",
  ])("never finds everything: %s", async (text) => {
    const response = await server.fetch(`${base}?query=${text}`);
    // A broken escape decodes to characters that are looked for.
    if (response.status === 200) expect(((await response.json()) as Page).builds).toEqual([]);
    else expect(response.status).toBe(400);
  });
});

interface Facets {
  builds: number;
  isLowerBound: boolean;
  facets: { field: string; values: { value: string; count: number }[] }[];
}

describe("facets", () => {
  test("count what the query finds, the most frequent first", async () => {
    const found = await get<Facets>(`${base}/facets?field=user,status&query=-command:run`);
    expect(found).toEqual({
      builds: 4,
      isLowerBound: false,
      facets: [
        {
          field: "user",
          values: [
            { value: "ann", count: 2 },
            { value: "Ben", count: 1 },
            { value: "ben", count: 1 },
          ],
        },
        {
          field: "status",
          values: [
            { value: "succeeded", count: 3 },
            { value: "running", count: 1 },
          ],
        },
      ],
    });
  });

  test("leave out what has no value", async () => {
    const found = await get<Facets>(`${base}/facets?field=branch`);
    expect(found.facets[0]?.values.map((one) => one.value)).toEqual(["main", "release/1"]);
  });

  test("values are completed whatever their case", async () => {
    const found = await get<{ values: { value: string }[] }>(`${base}/values?field=user&prefix=B`);
    expect(found.values.map((one) => one.value)).toEqual(["Ben", "ben"]);
  });

  test("the fields of a query are described, those with completion too", async () => {
    const found = await get<{ fields: { name: string; isCompleted: boolean }[] }>("/api/v1/query-fields");
    expect(found.fields.find((field) => field.name === "user")).toMatchObject({ isCompleted: true });
    expect(found.fields.find((field) => field.name === "duration")).toMatchObject({ isCompleted: false });
  });
});

test("a viewer of another project gets neither builds, facets nor values", async () => {
  for (const path of [`${base}?query=user:ann`, `${base}/facets`, `${base}/values?field=branch`]) {
    expect([path, (await stranger.fetch(path)).status]).toEqual([path, 404]);
  }
  const own = await stranger.fetch("/api/v1/projects/elsewhere/builds/facets?field=branch");
  expect(await own.json()).toMatchObject({
    builds: 1,
    facets: [{ values: [{ value: "secret", count: 1 }] }],
  });
});
