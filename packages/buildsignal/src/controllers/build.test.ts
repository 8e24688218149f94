import { beforeEach, expect, test } from "vitest";
import { judge } from "../queue/verdict.ts";
import { RunnerError } from "../runner-error.ts";
import { type StageBench, slotOf, stageBench } from "../stage-bench.fixture.ts";
import { startBuild } from "./build.ts";

const own = "request/main/1";
let bench: StageBench;
beforeEach(() => {
  bench = stageBench({ max_validation_ms: 60_000, metadata: { team: "core" } });
  bench.putQueue({ slots: [slotOf(own)] });
  bench.putRequest(1, "processing", { strategy: "full", metadata: { pull: "5" } });
});
const start = (queue = "main") => startBuild(bench.context, bench.message(own, { queue }));
const verdictOf = (work: Promise<unknown>) => work.then(() => "no error", judge);

test("a build is started, stored with its deadline, tied to its request and handed on", async () => {
  bench.putRequest(1, "processing", {
    strategy: "incremental_since_green",
    baseUri: "green",
    metadata: { pull: "5" },
  });
  expect(await start()).toEqual({ kind: "done" });
  expect(bench.world.triggers).toEqual([
    {
      queue: "main",
      project: "default",
      baseUri: "green",
      headUri: "commit-1",
      key: own,
      metadata: { team: "core", pull: "5" },
    },
  ]);
  expect(bench.database.writes).toEqual([
    "createBuild main/b1",
    `updateRequest ${own}`,
    "publish buildsignal main/b1",
  ]);
  expect(bench.database.builds.get("main/b1")).toMatchObject({
    status: "accepted",
    version: 1,
    deadlineAtMs: bench.nowMs + 60_000,
    url: "http://builds/1",
  });
  expect(bench.request(1)).toMatchObject({ state: "processing", buildId: "main/b1" });
});

test.each(["superseded", "succeeded", "failed", "cancelled"] as const)(
  "a request that is %s starts nothing",
  async (state) => {
    bench.putRequest(1, state);
    expect(await start()).toEqual({ kind: "done" });
    expect(bench.world.triggers).toEqual([]);
  },
);

test("a request that is not marked yet is tried again", async () => {
  bench.putRequest(1, "accepted");
  expect(await verdictOf(start())).toBe("infra-retryable");
});

test("a request that has a build is handed on without a second one", async () => {
  bench.putBuild();
  bench.putRequest(1, "processing", { strategy: "full", buildId: "main/b1" });
  await start();
  expect([bench.world.triggers, bench.database.writes]).toEqual([[], ["publish buildsignal main/b1"]]);
});

test.each([
  ["the request is missing", () => bench.database.requests.clear(), "main"],
  ["the message is of another queue", () => {}, "other"],
  [
    "the queue is not configured",
    () => bench.putRequest(1, "processing", { queue: "x", strategy: "full" }),
    "",
  ],
])("%s: given up", async (_, prepare, queue) => {
  prepare();
  expect(await verdictOf(start(queue))).toBe("infra");
  expect(bench.world.triggers).toEqual([]);
});

test.each([
  ["transient", "infra-retryable"],
  ["uncertain", "infra"],
  ["forbidden", "infra"],
] as const)("a trigger that fails as %s is raised as it is", async (kind, verdict) => {
  bench.world.triggered = new RunnerError({ kind, message: "no" });
  expect(await verdictOf(start())).toBe(verdict);
  expect(bench.database.writes).toEqual([]);
});

test.each(["", "x".repeat(501)])("an id of a build that cannot be stored is given up", async (id) => {
  bench.world.triggered = id;
  expect(await verdictOf(start())).toBe("infra");
});

test("the same build again, from a runner that found it, is the same build", async () => {
  bench.putBuild();
  expect(await start()).toEqual({ kind: "done" });
  expect(bench.request(1)).toMatchObject({ buildId: "main/b1" });
  expect(bench.database.published).toHaveLength(1);
});

test("a build that belongs to another request is refused", async () => {
  bench.putBuild({ requestId: "request/main/7" });
  expect(await verdictOf(start())).toBe("infra");
});

test.each([
  ["ended", () => bench.putRequest(1, "failed", { version: 2 })],
  ["has another build", () => bench.putRequest(1, "processing", { buildId: "main/other", version: 2 })],
])("a build whose request %s meanwhile is cancelled", async (_, happens) => {
  bench.world.meanwhile = () => void happens();
  expect(await start()).toEqual({ kind: "done" });
  expect([bench.world.cancels, bench.database.writes]).toEqual([["b1"], []]);
  expect(bench.counted).toEqual(["cancelled unwanted true"]);
});
