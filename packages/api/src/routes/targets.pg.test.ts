import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ApiServer, apiServer } from "../../../../test/seed/api-server.ts";
import { type SeededBuild, seedBuild } from "../../../../test/seed/seed-build.ts";
import { freshDatabase, type TestDatabase } from "../../../../test/services/database.ts";

let store: TestDatabase;
let server: ApiServer;
let build: SeededBuild;

beforeAll(async () => {
  store = await freshDatabase();
  server = await apiServer({ databaseUrl: store.url });
  build = await seedBuild(server, { invocationId: randomUUID(), row: { command: "test" } });
  await build.targets([
    { label: "//a:lib", status: "built", targetKind: "cc_library rule", tags: ["manual"] },
    { label: "//a:lib", status: "built", aspect: "//x:y.bzl%lint" },
    { label: "//a:lib", status: "built", configuration: "exec" },
    { label: "//a:test", status: "built", testSize: 2 },
    { label: "//b:broken", status: "failed", failureMessage: "it does not compile" },
    { label: "//b:skipped", status: "skipped" },
    { label: "//c:100%_sure", status: "configured" },
    { label: "//c:with,comma", status: "configured" },
  ]);
  await build.tests([
    { label: "//a:test", status: 1 },
    { label: "//a:flaky", status: 2, attemptCount: 3 },
    { label: "//b:test", status: 4 },
    { label: "//b:slow", status: 3 },
    { label: "//b:new", status: 42 },
  ]);
  const result = { label: "//a:flaky", configuration: "k8-fastbuild", run: 1, cachedLocally: false };
  await build.testResults([
    { ...result, shard: 1, attempt: 1, status: 4, cachedRemotely: false, exitCode: 1, durationMs: 900 },
    {
      ...result,
      shard: 1,
      attempt: 2,
      status: 1,
      cachedRemotely: true,
      outputs: [{ name: "test.log", uri: "bytestream://h/blobs/1/2" }],
    },
  ]);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await store.drop();
});

async function get<T>(rest: string): Promise<T> {
  const answer = await server.fetch(`/api/v1/projects/default/invocations/${build.invocationId}${rest}`);
  expect(answer.status, await answer.clone().text()).toBe(200);
  return (await answer.json()) as T;
}

interface Row {
  label: string;
  aspect: string;
  configuration: string;
  status: string;
}
interface Targets {
  targets: Row[];
  nextCursor: string | null;
}
interface Tests {
  tests: Row[];
  nextCursor: string | null;
}

describe("targets", () => {
  test("come by label, aspect and configuration, page by page", async () => {
    const all = (await get<Targets>("/targets")).targets;
    expect(all.map((row) => row.label)).toEqual(all.map((row) => row.label).sort());
    expect(all).toHaveLength(8);
    const paged: Row[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: Targets = await get(`/targets?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`);
      paged.push(...page.targets);
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(all);
  });

  test("say what they are", async () => {
    const { targets } = await get<Targets>("/targets?contains=BROKEN");
    expect(targets).toEqual([
      expect.objectContaining({
        label: "//b:broken",
        status: "failed",
        failureMessage: "it does not compile",
      }),
    ]);
    expect((await get<Targets>("/targets?label=//a:test")).targets[0]).toMatchObject({ testSize: "MEDIUM" });
  });

  test("are filtered by status, exact labels and part of a label", async () => {
    const labels = async (query: string) =>
      (await get<Targets>(`/targets?${query}`)).targets.map((t) => t.label);
    expect(await labels("status=failed,skipped")).toEqual(["//b:broken", "//b:skipped"]);
    expect(await labels("label=//a:test&label=//b:broken&label=//none")).toEqual(["//a:test", "//b:broken"]);
    expect(await labels(`contains=${encodeURIComponent("100%_")}`)).toEqual(["//c:100%_sure"]);
    expect(await labels("contains=_")).toEqual(["//c:100%_sure"]);
    expect(await labels("label=//c:with,comma")).toEqual(["//c:with,comma"]);
    expect(await labels("contains=%5C")).toEqual([]);
  });
});

describe("tests", () => {
  test("carry Bazel's words, and numbers that are newer than we are", async () => {
    const { tests } = await get<Tests>("/tests");
    expect(tests.map((row) => [row.label, row.status])).toEqual([
      ["//a:flaky", "FLAKY"],
      ["//a:test", "PASSED"],
      ["//b:new", "42"],
      ["//b:slow", "TIMEOUT"],
      ["//b:test", "FAILED"],
    ]);
  });

  test("are filtered and paged", async () => {
    const first = await get<Tests>("/tests?status=FAILED,TIMEOUT&limit=1");
    expect(first.tests.map((row) => row.label)).toEqual(["//b:slow"]);
    const second = await get<Tests>(`/tests?status=FAILED,TIMEOUT&limit=1&cursor=${first.nextCursor}`);
    expect(second.tests.map((row) => row.label)).toEqual(["//b:test"]);
    expect(second.nextCursor).toBeNull();
  });

  test("show every execution", async () => {
    const { results } = await get<{ results: unknown[] }>(
      "/test-results?label=//a:flaky&configuration=k8-fastbuild",
    );
    expect(results).toEqual([
      expect.objectContaining({ attempt: 1, status: "FAILED", exitCode: 1, durationMs: 900, outputs: [] }),
      expect.objectContaining({
        attempt: 2,
        status: "PASSED",
        cachedRemotely: true,
        outputs: [{ name: "test.log", uri: "bytestream://h/blobs/1/2" }],
      }),
    ]);
  });
});

test("the first pages of a hot list are read by their index", async () => {
  const plan = await server.database.sql.unsafe(`
    explain select * from targets
    where (attempt_id = 1 and exists (select 1 from invocations where attempt_id = 1 and true))
      and (label, aspect, configuration) > ('a', 'b', 'c')
    order by label, aspect, configuration limit 201`);
  const text = plan.map((row) => row["QUERY PLAN"]).join("\n");
  expect(text).toContain("Index Scan using targets_pkey");
  expect(text).not.toContain("Sort");
});
