import { beforeEach, expect, test } from "vitest";
import { judge } from "../queue/verdict.ts";
import { RunnerError } from "../runner-error.ts";
import { type StageBench, slotOf, stageBench } from "../stage-bench.fixture.ts";
import { pollBuild } from "./buildsignal.ts";
import { reconcileBuild, reconcileRecord, reconcileRequest } from "./reconcile.ts";

const own = "request/main/1";
let bench: StageBench;
beforeEach(() => {
  bench = stageBench();
  bench.putQueue({ slots: [slotOf(own)] });
});
const request = () => reconcileRequest(bench.context, bench.message(own));
const build = () => reconcileBuild(bench.context, bench.message("main/b1"));
const record = () => reconcileRecord(bench.context, bench.message(own));

function inFlight(): void {
  bench.putRequest(1, "processing", { strategy: "full", buildId: "main/b1" });
  bench.putBuild({ status: "running" });
}

test("an accepted request fails with its reason", async () => {
  bench.putQueue();
  bench.putRequest(1, "accepted");
  expect(await request()).toEqual({ kind: "done" });
  expect(bench.database.writes).toEqual([`updateRequest ${own}`]);
  expect(bench.request(1)).toMatchObject({ state: "failed", reason: "processing_failed" });
  expect(bench.database.log).toMatchObject([{ to: "failed", reason: "processing_failed" }]);
  expect(bench.database.announced.map((fact) => fact.kind)).toEqual(["request-changed", "no-verdict"]);
});

test("one that is being validated frees its slot first, and only its own", async () => {
  bench.putQueue({ slots: [slotOf(own), slotOf("request/main/9")] });
  bench.putRequest(1, "processing", { strategy: "full" });
  await request();
  expect(bench.database.writes).toEqual(["updateQueue main", `updateRequest ${own}`]);
  expect(bench.row?.slots).toEqual([slotOf("request/main/9")]);
});

test.each(["superseded", "succeeded", "failed", "cancelled"] as const)(
  "one that is %s is left alone",
  async (state) => {
    bench.putRequest(1, state);
    expect(await request()).toEqual({ kind: "done" });
    expect(bench.database.writes).toEqual([]);
  },
);

test("a missing request, a missing build, a build without its request: nothing to reconcile", async () => {
  expect([await request(), await build(), await record()]).toEqual([1, 2, 3].map(() => ({ kind: "done" })));
  bench.putBuild();
  expect(await build()).toEqual({ kind: "done" });
});

test("a missing queue row does not keep a request open", async () => {
  bench.database.queues.clear();
  bench.putRequest(1, "processing");
  await request();
  expect(bench.request(1)).toMatchObject({ state: "failed" });
});

test.each(["updateQueue", "updateRequest", "commit"])(
  "a store that fails at %s leaves slot and state",
  async (operation) => {
    bench.putRequest(1, "processing");
    bench.before = (now) => {
      if (now === operation) throw new Error("away");
    };
    await expect(request()).rejects.toThrow("away");
    expect([bench.row?.slots.length, bench.request(1)?.state]).toEqual([1, "processing"]);
  },
);

test.each([
  ["a dead letter of build", request],
  ["a dead letter of buildsignal", build],
])("%s: a build that ended after all counts", async (_, reconcile) => {
  inFlight();
  bench.world.observation = { status: "succeeded" };
  expect(await reconcile()).toEqual({ kind: "done" });
  expect(bench.request(1)).toMatchObject({ state: "succeeded", reason: null });
  expect([bench.row?.slots, bench.database.published.length]).toEqual([[], 1]);
});

test.each([
  ["runs on", { status: "running" } as const],
  ["says nothing", { status: "unknown" } as const],
  ["cannot be asked", new RunnerError({ kind: "transient", message: "away" })],
])("a build that %s is cancelled, its request fails, its row stays", async (_, observation) => {
  inFlight();
  bench.world.observation = observation;
  expect(await build()).toEqual({ kind: "done" });
  expect(bench.request(1)).toMatchObject({ state: "failed", reason: "build_polling_exhausted" });
  expect(bench.database.builds.get("main/b1")).toMatchObject({ status: "running", version: 1 });
  expect([bench.row?.slots, bench.world.cancels, bench.database.published]).toEqual([[], ["b1"], []]);
});

test("a build that is terminal in our store is settled without asking", async () => {
  inFlight();
  bench.putBuild({ status: "failed" });
  await build();
  expect([bench.world.polls, bench.request(1)?.reason]).toEqual([[], null]);
});

test("a dead letter of a build whose request has its verdict has it recorded, and nothing else", async () => {
  inFlight();
  bench.putRequest(1, "failed", { buildId: "main/b1" });
  await build();
  expect(bench.database.writes).toEqual([`publish record ${own}`]);
  bench.database.writes.length = 0;
  bench.putRequest(1, "failed", { buildId: "main/b1", reason: "timed_out" });
  await build();
  expect(bench.database.writes).toEqual([]);
});

test("a dead letter that races a live poll: one outcome, one slot freed", async () => {
  inFlight();
  bench.putQueue({ slots: [slotOf(own), slotOf("request/main/9")] });
  bench.world.observation = { status: "succeeded" };
  const results = await Promise.allSettled([
    build(),
    pollBuild(bench.context, bench.message("main/b1")),
    build(),
  ]);
  expect(results.some((result) => result.status === "fulfilled")).toBe(true);
  expect(bench.request(1)).toMatchObject({ state: "succeeded", version: 2 });
  expect(bench.row?.slots).toEqual([slotOf("request/main/9")]);
});

test("a record that was given up is repaired here and reaches nobody outside", async () => {
  bench.putRequest(1, "succeeded");
  expect(await record()).toEqual({ kind: "done" });
  expect([bench.database.facts.size, bench.row?.lastGreenRequestId]).toEqual([1, own]);
  expect(bench.world.promotions).toEqual([]);
});

test("one that cannot be repaired is given up for good, aloud", async () => {
  bench.putRequest(1, "succeeded");
  bench.database.facts.set("main commit-1 ", {
    ...{ queue: "main", uri: "commit-1", part: "", degree: 1, requestId: "request/main/0", createdAtMs: 0 },
  });
  expect(await record()).toEqual({ kind: "done" });
  expect(bench.counted).toEqual(["abandoned"]);
});

test("one that fails for another reason is tried again", async () => {
  bench.putRequest(1, "succeeded");
  bench.before = (operation) => {
    if (operation === "createFact") throw new Error("away");
  };
  expect(await record().catch(judge)).toBe("unknown");
});
