import { beforeEach, expect, test } from "vitest";
import type { ValidationFact } from "../entities.ts";
import { judge } from "../queue/verdict.ts";
import { type StageBench, stageBench } from "../stage-bench.fixture.ts";
import { recordOutcome } from "./record.ts";

const own = "request/main/2";
let bench: StageBench;
beforeEach(() => {
  bench = stageBench();
  bench.putQueue({ latestRequestId: own });
});
const record = () => recordOutcome(bench.context, bench.message(own));
const facts = () => [...bench.database.facts.values()];
const factOf = (change: Partial<ValidationFact>): ValidationFact => ({
  ...{ queue: "main", uri: "commit-2", part: "", degree: 0, requestId: own, createdAtMs: 1 },
  ...change,
});
const putFact = (change: Partial<ValidationFact>) => {
  bench.database.facts.set("main commit-2 ", factOf(change));
};

test("a green commit becomes a fact, the last green one, and is promoted", async () => {
  bench.putRequest(2, "succeeded");
  expect(await record()).toEqual({ kind: "done" });
  expect(facts()).toEqual([factOf({ createdAtMs: bench.nowMs })]);
  expect(bench.row).toMatchObject({ lastGreenUri: "commit-2", lastGreenRequestId: own });
  expect(bench.world.promotions).toEqual(["commit-2"]);
  expect(bench.database.announced.map((fact) => fact.kind)).toEqual(["commit-green"]);
});

test("a broken commit becomes a fact and nothing else", async () => {
  bench.putRequest(2, "failed", { baseUri: "green", createdAtMs: bench.nowMs - 4_000 });
  await record();
  expect(facts()).toMatchObject([{ degree: 1 }]);
  expect([bench.row?.lastGreenUri, bench.world.promotions]).toEqual(["", []]);
  expect([bench.database.announced.map((fact) => fact.kind), bench.counted]).toEqual([
    ["commit-broken"],
    ["detected 4000"],
  ]);
});

test.each([
  ["cancelled", null],
  ["superseded", null],
  ["failed", "timed_out"],
  ["failed", "processing_failed"],
  ["succeeded", "neutral"],
] as const)("%s with reason %s is no verdict: no fact", async (state, reason) => {
  bench.putRequest(2, state, { reason });
  expect(await record()).toEqual({ kind: "done" });
  expect([facts(), bench.database.writes]).toEqual([[], []]);
});

test.each(["accepted", "processing"] as const)("one that is %s has no outcome to record", async (state) => {
  bench.putRequest(2, state);
  expect(await record().catch(judge)).toBe("infra");
});

test("a redelivery adopts the fact and promotes again, and counts nothing", async () => {
  bench.putRequest(2, "succeeded");
  await record();
  bench.database.writes.length = 0;
  await record();
  expect([bench.database.writes, bench.world.promotions.length]).toEqual([[], 2]);
});

test("a fact of another request is never replaced", async () => {
  bench.putRequest(2, "succeeded");
  putFact({ requestId: "request/main/1", degree: 1 });
  expect(await record().catch(judge)).toBe("infra");
  expect(facts()).toEqual([factOf({ requestId: "request/main/1", degree: 1 })]);
});

test("an older green commit is a fact and does not move the last green one back", async () => {
  bench.putRequest(2, "succeeded");
  bench.putQueue({ lastGreenUri: "commit-10", lastGreenRequestId: "request/main/10" });
  await record();
  expect(facts()).toHaveLength(1);
  expect([bench.row?.lastGreenUri, bench.world.promotions]).toEqual(["commit-10", []]);
});

test("a commit that is not there any more is counted, not retried", async () => {
  bench.putRequest(2, "succeeded");
  bench.world.promotes = "not_found";
  expect(await record()).toEqual({ kind: "done" });
  expect(bench.counted).toEqual(["promotion missed"]);
});

test("a promotion that fails is raised; fact and last green commit stand", async () => {
  bench.putRequest(2, "succeeded");
  bench.world.promotes = new Error("no push");
  await expect(record()).rejects.toThrow("no push");
  expect([facts().length, bench.row?.lastGreenRequestId]).toEqual([1, own]);
});
