import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type ApiServer, apiServer } from "../../../../test/seed/api-server.ts";
import { type SeedBuild, type SeededBuild, seedBuild } from "../../../../test/seed/seed-build.ts";
import { freshDatabase, type TestDatabase } from "../../../../test/services/database.ts";

let store: TestDatabase;
let server: ApiServer;

beforeAll(async () => {
  store = await freshDatabase();
  server = await apiServer({ databaseUrl: store.url });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await store.drop();
});
beforeEach(async () => {
  await server.database.sql`truncate stream_positions, invocations, targets, test_summaries, test_results`;
});

function seed(build: Partial<SeedBuild> = {}): Promise<SeededBuild> {
  return seedBuild(server, { invocationId: randomUUID(), ...build });
}

interface Page {
  builds: { invocationId: string; attempt: number; status: string; [key: string]: unknown }[];
  nextCursor: string | null;
}

async function list(query = "", project = "default"): Promise<Page> {
  const response = await server.fetch(`/api/v1/projects/${project}/builds${query}`);
  expect(response.status, await response.clone().text()).toBe(200);
  return (await response.json()) as Page;
}

describe("the list of builds", () => {
  test("is empty at first", async () => {
    expect(await list()).toEqual({ builds: [], nextCursor: null });
  });

  test("begins with the newest and goes on by cursor without hole or double", async () => {
    const ids: string[] = [];
    for (let at = 0; at < 7; at++) ids.unshift((await seed()).invocationId);
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: Page = await list(`?limit=3${cursor === "" ? "" : `&cursor=${cursor}`}`);
      seen.push(...page.builds.map((build) => build.invocationId));
      // What arrives meanwhile does not move the pages.
      await seed();
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(ids);
  });

  test("shows the latest attempt of an invocation once", async () => {
    const { invocationId } = await seed({ status: "disconnected" });
    await seed();
    await seed({ invocationId, attempt: 2 });
    const page = await list();
    expect(page.builds).toHaveLength(2);
    expect(page.builds[0]).toMatchObject({ invocationId, attempt: 2, status: "running" });
  });

  test("counts a running build as it stands and an ended one as it ended", async () => {
    const running = await seed({ row: { command: "test" } });
    await running.targets([
      { label: "//a", status: "built" },
      { label: "//b", status: "failed" },
      { label: "//c", status: "configured" },
    ]);
    await running.tests([
      { label: "//a", status: 1 },
      { label: "//b", status: 4 },
    ]);
    const ended = await seed();
    await ended.targets([{ label: "//a", status: "built" }]);
    await ended.end({ status: "succeeded" });
    await server.database.sql`delete from targets where attempt_id = ${ended.attemptId}`;
    const page = await list();
    expect(page.builds.map((build) => [build.targets, build.tests])).toEqual([
      [
        { total: 1, done: 1, failed: 0 },
        { total: 0, passed: 0, failed: 0, flaky: 0 },
      ],
      [
        { total: 3, done: 2, failed: 1 },
        { total: 2, passed: 1, failed: 1, flaky: 0 },
      ],
    ]);
  });

  test("is filtered by status, command and user, each any of several", async () => {
    await seed({ status: "failed", row: { command: "test", user: "ann" } });
    await seed({ status: "succeeded", row: { command: "build", user: "ann" } });
    await seed({ status: "succeeded", row: { command: "run", user: "ben" } });
    const commands = async (query: string) => (await list(query)).builds.map((build) => build.command);
    expect(await commands("?status=failed")).toEqual(["test"]);
    expect(await commands("?status=failed,succeeded&user=ann")).toEqual(["build", "test"]);
    expect(await commands("?command=run&command=test")).toEqual(["run", "test"]);
    expect(await commands("?user=carl")).toEqual([]);
    expect(await commands("?user=")).toHaveLength(3);
  });

  test("gives times, places and a duration", async () => {
    const build = await seed({
      row: {
        startedAt: new Date("2026-11-30T10:00:00Z"),
        host: "ci-7",
        branch: "main",
        patterns: Array.from({ length: 50 }, (_, at) => `//p${at}`),
      },
    });
    await build.end({ status: "failed", exitCode: 3, finishedAt: new Date("2026-11-30T10:01:04.250Z") });
    expect((await list()).builds[0]).toMatchObject({
      durationMs: 64_250,
      exitCode: 3,
      host: "ci-7",
      branch: "main",
      patternCount: 50,
      startedAt: "2026-11-30T10:00:00.000Z",
    });
    expect((await list()).builds[0]?.patterns).toHaveLength(20);
  });
});

test("a build that was cut off took as long as the database saw it, whatever the client's clock said", async () => {
  const build = await seed({ row: { startedAt: new Date("2020-01-01T00:00:00Z") } });
  await build.end({ status: "disconnected" });
  expect((await list()).builds[0]?.durationMs).toBeLessThan(3_600_000);
});

describe("what is asked for wrongly", () => {
  test.each([
    ["?limit=0", "invalid-request"],
    ["?limit=1001", "invalid-request"],
    ["?limit=x", "invalid-request"],
    ["?status=green", "invalid-request"],
    ["?cursor=nonsense", "bad-cursor"],
    [`?cursor=${Buffer.from('["x"]').toString("base64url")}`, "bad-cursor"],
    [`?cursor=${Buffer.from("[1e400]").toString("base64url")}`, "bad-cursor"],
    ["?user=%00", "invalid-request"],
  ])("%s is a 400 that says why", async (query, code) => {
    const response = await server.fetch(`/api/v1/projects/default/builds${query}`);
    expect(response.status).toBe(400);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await response.json()).toMatchObject({ status: 400, code, detail: expect.any(String) });
  });

  test.each(["/api/v1/projects/nowhere/builds", "/api/v1/nothing", "/api/v1/invocations/unknown"])(
    "%s is a 404 problem",
    async (path) => {
      const response = await server.fetch(path);
      expect(response.status).toBe(404);
      expect(response.headers.get("content-type")).toBe("application/problem+json");
    },
  );

  test("a project's name that can be none is a 400", async () => {
    expect((await server.fetch("/api/v1/projects/No%20Such/builds")).status).toBe(400);
  });
});

describe("one invocation", () => {
  const path = (id: string, more = "") =>
    `/api/v1/projects/default/invocations/${encodeURIComponent(id)}${more}`;

  test("shows its latest attempt, another one on demand, and all of them by number", async () => {
    const first = await seed({ row: { toolVersion: "7.7.1" } });
    await first.end({ status: "disconnected" });
    await seed({ invocationId: first.invocationId, attempt: 2, row: { toolVersion: "8.0.0" } });
    const latest = (await (await server.fetch(path(first.invocationId))).json()) as {
      attempts: { attempt: number }[];
    };
    expect(latest).toMatchObject({ attempt: 2, toolVersion: "8.0.0", complete: false });
    expect(latest.attempts.map((each) => each.attempt)).toEqual([2, 1]);
    const older = await (await server.fetch(path(first.invocationId, "?attempt=1"))).json();
    expect(older).toMatchObject({ attempt: 1, toolVersion: "7.7.1", status: "disconnected" });
    expect((await server.fetch(path(first.invocationId, "?attempt=3"))).status).toBe(404);
  });

  test("is answered with 304 until something about it changes", async () => {
    const build = await seed();
    const tag = (await server.fetch(path(build.invocationId))).headers.get("etag") ?? "";
    const again = () => server.fetch(path(build.invocationId), { headers: { "if-none-match": tag } });
    expect((await again()).status).toBe(304);
    await build.move();
    expect((await again()).status).toBe(200);
  });

  test("may have an id that is no UUID", async () => {
    const build = await seed({ invocationId: "a/b c.d*>" });
    const answer = await server.fetch(path(build.invocationId));
    expect(await answer.json()).toMatchObject({ invocationId: "a/b c.d*>" });
  });

  test("is found by its id alone", async () => {
    const { invocationId } = await seed();
    await seed({ invocationId, project: "other" });
    const answer = await server.fetch(`/api/v1/invocations/${invocationId}`);
    expect(await answer.json()).toEqual({ projects: ["default", "other"] });
  });
});

describe("the boundary of projects", () => {
  test("a viewer of another project sees nothing of a build, by no route", async () => {
    const build = await seed();
    await build.log("secret\n");
    await using stranger = await apiServer({
      databaseUrl: store.url,
      viewerOf: async () => ({ projects: new Set(["elsewhere"]) }),
    });
    const base = "/api/v1/projects/default";
    const one = `${base}/invocations/${build.invocationId}`;
    const paths = ["", "/targets", "/tests", "/test-results?label=x", "/log", "/events", "/bep", "/live"];
    for (const path of [`${base}/builds`, `${base}/live`, ...paths.map((rest) => one + rest)]) {
      expect([path, (await stranger.fetch(path)).status]).toEqual([path, 404]);
    }
    expect((await stranger.fetch(`/api/v1/invocations/${build.invocationId}`)).status).toBe(404);
    expect(await (await stranger.fetch("/api/v1/projects")).json()).toEqual({ projects: [] });
  });
});
