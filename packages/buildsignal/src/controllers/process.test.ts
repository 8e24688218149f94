import { beforeEach, expect, test } from "vitest";
import { judge } from "../queue/verdict.ts";
import { type StageBench, slotOf, stageBench } from "../stage-bench.fixture.ts";
import { processRequest } from "./process.ts";

let bench: StageBench;
beforeEach(() => {
  bench = stageBench();
  bench.putQueue();
  bench.putRequest(1, "accepted");
});

const decide = (number = 1, queue = "main") =>
  processRequest(bench.context, bench.message(`request/main/${number}`, { queue }));
const verdictOf = (work: Promise<unknown>) => work.then(() => "no error", judge);
const hold = (delayMs: number) => ({ kind: "hold", delayMs });
const own = "request/main/1";

test("a request is admitted: slot, state with strategy, message to build, in this order", async () => {
  expect(await decide()).toEqual({ kind: "done" });
  expect(bench.database.writes).toEqual(["updateQueue main", `updateRequest ${own}`, `publish build ${own}`]);
  expect(bench.row?.slots).toEqual([
    { owner: own, claimedAtMs: bench.nowMs, expiresAtMs: bench.nowMs + 6 * 3_600_000 },
  ]);
  expect(bench.request(1)).toMatchObject({ state: "processing", strategy: "full", baseUri: "" });
  expect(bench.database.log).toMatchObject([{ from: "accepted", to: "processing" }]);
});

test("one that is being validated is only handed on again", async () => {
  bench.putRequest(1, "processing");
  expect(await decide()).toEqual({ kind: "done" });
  expect(bench.database.writes).toEqual([`publish build ${own}`]);
});

test.each(["superseded", "succeeded", "failed", "cancelled"] as const)(
  "one that is %s is left alone",
  async (state) => {
    bench.putRequest(1, state);
    expect(await decide()).toEqual({ kind: "done" });
    expect(bench.database.writes).toEqual([]);
  },
);

test.each([
  ["the request is missing", () => bench.database.requests.clear(), "main"],
  ["the queue's row is missing", () => bench.database.queues.clear(), "main"],
  ["the message is of another queue", () => {}, "other"],
  [
    "the latest request is of another queue",
    () => bench.putQueue({ latestRequestId: "request/other/3" }),
    "main",
  ],
])("%s: given up", async (_, prepare, queue) => {
  prepare();
  expect(await verdictOf(decide(1, queue))).toBe("infra");
});

test("a queue whose latest request is not known yet has it wait, not lost", async () => {
  bench.putQueue({ latestRequestId: "" });
  expect(await decide()).toEqual(hold(5_000));
});

test("an older request is superseded without a slot, also when the gate is closed", async () => {
  bench.putQueue({ latestRequestId: "request/main/10", slots: [slotOf("request/main/9")] });
  expect(await decide()).toEqual({ kind: "done" });
  expect(bench.request(1)).toMatchObject({ state: "superseded" });
  expect([bench.row?.slots.length, bench.database.published]).toEqual([1, []]);
});

test("numbers decide what is older, not texts", async () => {
  bench.putRequest(10, "accepted");
  bench.putQueue({ latestRequestId: "request/main/10" });
  await decide(10);
  expect(bench.request(10)).toMatchObject({ state: "processing" });
});

test("a superseded request gives back a slot that a crash had left it", async () => {
  bench.putQueue({ latestRequestId: "request/main/2", slots: [slotOf(own)] });
  await decide();
  expect(bench.row?.slots).toEqual([]);
});

test("a closed gate holds, and looks again after the queue's delay", async () => {
  bench = stageBench({ gate_wait_delay_ms: 777, max_concurrent: 2 });
  bench.putRequest(1, "accepted");
  bench.putQueue({ slots: [slotOf("request/main/8"), slotOf("request/main/9")] });
  expect(await decide()).toEqual(hold(777));
  expect(bench.database.writes).toEqual([]);
});

test("a claim that is there already is not taken twice", async () => {
  bench.putQueue({ slots: [slotOf(own)] });
  await decide();
  expect(bench.database.writes).toEqual([`updateRequest ${own}`, `publish build ${own}`]);
});

test("a queue that cools down admits nobody before its time", async () => {
  bench.putQueue({ nextAdmissionAtMs: bench.nowMs + 1_200 });
  expect(await decide()).toEqual(hold(1_200));
  bench.nowMs += 1_200;
  expect(await decide()).toEqual({ kind: "done" });
});

test.each([
  ["nothing is green yet", "", true, "full", ""],
  ["the last green commit is an ancestor", "green", true, "incremental_since_green", "green"],
  ["it is no ancestor", "green", false, "full", ""],
  ["it is not known any more", "green", undefined, "full", ""],
] as const)("%s: strategy %s", async (_, lastGreenUri, ancestor, strategy, baseUri) => {
  bench.putQueue({ lastGreenUri });
  bench.world.ancestor = ancestor;
  await decide();
  expect(bench.request(1)).toMatchObject({ strategy, baseUri });
});

test("a source control that fails is raised before a slot is claimed", async () => {
  bench.putQueue({ lastGreenUri: "green" });
  bench.world.ancestor = new Error("no repository");
  await expect(decide()).rejects.toThrow("no repository");
  expect(bench.database.writes).toEqual([]);
});

test("a queue that changed while deciding is looked at anew: the gate may be closed by now", async () => {
  bench.putQueue({ lastGreenUri: "green" });
  bench.world.meanwhile = () => {
    bench.world.meanwhile = () => {};
    bench.putQueue({ lastGreenUri: "green", slots: [slotOf("request/main/9")], version: 2 });
  };
  expect(await decide()).toEqual(hold(5_000));
  expect(bench.request(1)).toMatchObject({ state: "accepted" });
});

test("… or there is a newer head, or another last green commit", async () => {
  bench.putQueue({ lastGreenUri: "green" });
  bench.world.meanwhile = () => {
    bench.world.meanwhile = () => {};
    bench.putQueue({ lastGreenUri: "greener", version: 2 });
  };
  await decide();
  expect(bench.request(1)).toMatchObject({ state: "processing", baseUri: "greener" });
  bench.putRequest(1, "accepted");
  bench.putQueue({ lastGreenUri: "green" });
  bench.world.meanwhile = () => bench.putQueue({ latestRequestId: "request/main/2", version: 2 });
  await decide();
  expect(bench.request(1)).toMatchObject({ state: "superseded" });
});

test("a queue that never stands still is left to the next attempt", async () => {
  bench.putQueue({ lastGreenUri: "green" });
  let version = 1;
  bench.world.meanwhile = () => {
    version += 1;
    bench.putQueue({ lastGreenUri: "green", version });
  };
  expect(await verdictOf(decide())).toBe("infra-retryable");
});

test("somebody else decided about the request: the slot is given back", async () => {
  bench.putQueue({ lastGreenUri: "green" });
  bench.world.meanwhile = () => bench.putRequest(1, "cancelled", { version: 2 });
  expect(await decide()).toEqual({ kind: "done" });
  expect([bench.row?.slots, bench.database.published]).toEqual([[], []]);
  expect(bench.request(1)).toMatchObject({ state: "cancelled" });
});

test("somebody else admitted the request meanwhile: the slot is its own and stays", async () => {
  bench.putQueue({ lastGreenUri: "green" });
  bench.world.meanwhile = () => bench.putRequest(1, "processing", { version: 2 });
  expect(await decide()).toEqual({ kind: "done" });
  expect(bench.row?.slots).toMatchObject([{ owner: own }]);
  expect([bench.request(1)?.version, bench.database.published]).toEqual([2, []]);
});

test("a request that changed and is still accepted keeps the strategy", async () => {
  bench.putQueue({ lastGreenUri: "green" });
  bench.world.meanwhile = () => bench.putRequest(1, "accepted", { version: 2 });
  await decide();
  expect(bench.request(1)).toMatchObject({
    state: "processing",
    strategy: "incremental_since_green",
    version: 3,
  });
});

test.each(["updateQueue", "updateRequest", "publish build", "commit"])(
  "a store that fails at %s leaves neither slot nor state",
  async (operation) => {
    bench.before = (now) => {
      if (now === operation) throw new Error("away");
    };
    await expect(decide()).rejects.toThrow("away");
    expect([bench.row?.slots, bench.request(1)?.state]).toEqual([[], "accepted"]);
  },
);

test.each([
  ["is accepted", "accepted"],
  ["is terminal", "failed"],
] as const)("an expired slot whose request %s is given up by who waits", async (_, state) => {
  bench.putRequest(9, state);
  bench.putQueue({ slots: [slotOf("request/main/9", { expiresAtMs: bench.nowMs })] });
  expect(await decide()).toEqual(hold(0));
  expect(bench.row?.slots).toEqual([]);
});

test("an expired slot whose request is being validated stays: its build's deadline ends it", async () => {
  bench.putRequest(9, "processing");
  bench.putQueue({ slots: [slotOf("request/main/9", { expiresAtMs: bench.nowMs })] });
  expect(await decide()).toEqual(hold(5_000));
  expect(bench.row?.slots).toHaveLength(1);
});
