import { beforeEach, expect, test } from "vitest";
import { judge } from "../queue/verdict.ts";
import type { BuildObservation } from "../runner.ts";
import { RunnerError } from "../runner-error.ts";
import { type StageBench, slotOf, stageBench } from "../stage-bench.fixture.ts";
import { pollBuild } from "./buildsignal.ts";

const requestId = "request/main/1";
const slots = [slotOf(requestId)];

let bench: StageBench;
beforeEach(() => {
  bench = stageBench({ cadence: { jitter: 0 } });
});

const poll = (change: { queue?: string; holds?: number } = {}) =>
  pollBuild(bench.context, bench.message("main/b1", change));
const verdictOf = (work: Promise<unknown>) => work.then(() => "no error", judge);

/** A request that is being validated with a slot and a build. */
function inFlight(status: "accepted" | "running" = "running"): void {
  bench.putQueue({ slots });
  bench.putRequest(1, "processing", { strategy: "full", buildId: "main/b1" });
  bench.putBuild({ status });
}
const says = (observation: BuildObservation | Error) => {
  bench.world.observation = observation;
};

test.each([
  ["the build is missing", () => bench.database.builds.clear(), /no build/],
  ["the request is missing", () => bench.database.requests.clear(), /no request/],
  ["the queue is not configured", () => bench.putRequest(1, "processing", { queue: "other" }), /other/],
  [
    "the message is of another queue",
    () => bench.putRequest(1, "processing", { queue: "x" }),
    /belongs to x/,
  ],
])("%s: given up, without asking the runner", async (_, prepare, message) => {
  inFlight();
  prepare();
  await expect(poll()).rejects.toThrow(message);
  expect(await verdictOf(poll())).toBe("infra");
  expect([bench.world.polls, bench.database.writes]).toEqual([[], []]);
});

test("a message without a queue's name is about whatever queue its request has", async () => {
  inFlight();
  expect(await poll({ queue: "" })).toMatchObject({ kind: "hold" });
});

test.each(["accepted", "superseded"] as const)(
  "a request that is %s never had a slot: nothing is done",
  async (state) => {
    inFlight();
    bench.putRequest(1, state);
    expect(await poll()).toEqual({ kind: "done" });
    expect([bench.world.polls, bench.database.writes]).toEqual([[], []]);
  },
);

test.each([
  ["running", "running", 2_000],
  ["accepted", "accepted", 5_000],
] as const)("an unchanged %s build writes nothing and is held", async (status, says_, delayMs) => {
  inFlight(status);
  says({ status: says_, url: "http://elsewhere", metadata: { a: "b" } });
  expect(await poll({ holds: 3 })).toEqual({ kind: "hold", delayMs, fresh: false });
  expect(bench.database.writes).toEqual([]);
});

test("a new status is stored once with what the provider says, and polled at its own pace", async () => {
  inFlight("accepted");
  says({ status: "running", providerState: "blocked", url: "http://builds/7", metadata: { number: "7" } });
  expect(await poll({ holds: 9 })).toEqual({ kind: "hold", delayMs: 2_000, fresh: true });
  expect(bench.database.writes).toEqual(["updateBuild main/b1"]);
  expect(bench.database.builds.get("main/b1")).toMatchObject({
    status: "running",
    providerState: "blocked",
    url: "http://builds/7",
    metadata: { number: "7" },
    version: 2,
  });
});

test("statuses that alternate are stored each time and restart the pace", async () => {
  bench = stageBench({ cadence: { jitter: 0, growth: 2 } });
  inFlight("accepted");
  for (const [status, delayMs] of [
    ["running", 2_000],
    ["accepted", 5_000],
    ["running", 2_000],
  ] as const) {
    says({ status });
    expect(await poll({ holds: 4 })).toEqual({ kind: "hold", delayMs, fresh: true });
  }
  expect(bench.database.writes).toHaveLength(3);
});

test("an unknown status writes nothing, is counted, and the last known one sets the pace", async () => {
  inFlight("running");
  says({ status: "unknown" });
  expect(await poll()).toEqual({ kind: "hold", delayMs: 2_000, fresh: false });
  expect([bench.database.writes, bench.counted]).toEqual([[], ["unknown"]]);
});

test("the pace grows to its maximum and yields to what the provider asks for", async () => {
  bench = stageBench({ cadence: { jitter: 0, growth: 2, max_ms: 30_000 } });
  inFlight();
  const delays: unknown[] = [];
  for (const holds of [0, 1, 3, 10]) delays.push(await poll({ holds }));
  expect(delays).toMatchObject([2_000, 4_000, 16_000, 30_000].map((delayMs) => ({ delayMs })));
  says({ status: "running", retryAfterMs: 45_000 });
  expect(await poll()).toMatchObject({ delayMs: 45_000 });
});

test.each(["succeeded", "failed", "cancelled"] as const)(
  "a build that %s: status, slot, outcome, record, in this order",
  async (status) => {
    inFlight();
    says({ status, providerState: "over" });
    expect(await poll()).toEqual({ kind: "done" });
    expect(bench.database.writes).toEqual([
      "updateBuild main/b1",
      "updateQueue main",
      `updateRequest ${requestId}`,
      `publish record ${requestId}`,
    ]);
    expect(bench.row?.slots).toEqual([]);
    expect(bench.request(1)).toMatchObject({ state: status, reason: null });
    expect(bench.database.log).toMatchObject([
      { requestId, who: "test", from: "processing", to: status, buildId: "main/b1" },
    ]);
    expect(bench.counted).toEqual([`ended ${status}`]);
  },
);

test("a build that ended without a verdict gives its request a reason", async () => {
  inFlight();
  says({ status: "failed", noVerdict: "skipped" });
  await poll();
  expect(bench.request(1)).toMatchObject({ state: "failed", reason: "skipped" });
  expect(bench.database.announced.map((fact) => fact.kind)).toEqual(["request-changed", "no-verdict"]);
});

test("a redelivery after the outcome publishes again and touches neither slot nor build", async () => {
  inFlight();
  bench.putBuild({ status: "succeeded" });
  bench.putRequest(1, "succeeded");
  expect(await poll()).toEqual({ kind: "done" });
  expect(bench.database.writes).toEqual([`publish record ${requestId}`]);
});

test("the first terminal status wins: the runner is not asked again and nothing it says is stored", async () => {
  inFlight();
  bench.putBuild({ status: "failed" });
  says({ status: "succeeded" });
  await poll();
  expect(bench.database.builds.get("main/b1")).toMatchObject({ status: "failed", version: 1 });
  expect(bench.request(1)).toMatchObject({ state: "failed" });
});

test("a second build of a request with an outcome changes nothing of it", async () => {
  inFlight();
  says({ status: "succeeded" });
  await poll();
  bench.putBuild({ id: "main/b2", handle: "b2", status: "running" });
  bench.putQueue({ slots: [slotOf("request/main/9")], version: 9 });
  says({ status: "failed" });
  expect(await pollBuild(bench.context, bench.message("main/b2"))).toEqual({ kind: "done" });
  expect(bench.request(1)).toMatchObject({ state: "succeeded" });
  expect(bench.row?.slots).toHaveLength(1);
  expect(bench.database.builds.get("main/b2")).toMatchObject({ status: "failed" });
});

test("two builds of one request that end together free one slot and leave one outcome", async () => {
  inFlight();
  bench.putQueue({ slots: [...slots, slotOf("request/main/9")] });
  bench.putBuild({ id: "main/b2", handle: "b2", status: "running" });
  says({ status: "succeeded" });
  await Promise.all([poll(), pollBuild(bench.context, bench.message("main/b2"))]);
  expect(bench.row?.slots).toEqual([slotOf("request/main/9")]);
  expect(bench.database.writes.filter((write) => write.startsWith("updateRequest"))).toHaveLength(1);
});

test("somebody else stored a status meanwhile: tried again, and nothing of ours is left", async () => {
  inFlight();
  for (const status of ["running", "succeeded"] as const) {
    says({ status });
    bench.putBuild({ status: "accepted", version: 1 });
    bench.world.meanwhile = () => bench.putBuild({ status: "accepted", version: 2 });
    expect(await verdictOf(poll())).toBe("infra-retryable");
  }
  expect([bench.request(1)?.state, bench.row?.slots, bench.database.writes]).toEqual([
    "processing",
    slots,
    [],
  ]);
});

test.each([
  ["a transient failure", new RunnerError({ kind: "transient", message: "502" }), "infra-retryable"],
  ["an unknown build", new RunnerError({ kind: "not_found", message: "404" }), "infra"],
  ["what nobody recognises", new Error("?"), "unknown"],
])("%s of the runner is raised as it is", async (_, error, verdict) => {
  inFlight();
  says(error);
  expect(await verdictOf(poll())).toBe(verdict);
  expect(bench.database.writes).toEqual([]);
});

test.each(["queue", "updateBuild", "updateQueue", "updateRequest", "appendLog", "publish record", "commit"])(
  "a store that fails at %s leaves the request as it was, with its slot",
  async (operation) => {
    inFlight();
    says({ status: "succeeded" });
    bench.before = (now) => {
      if (now === operation) throw new Error("away");
    };
    await expect(poll()).rejects.toThrow("away");
    expect(bench.request(1)).toMatchObject({ state: "processing" });
    expect([bench.row?.slots, bench.database.published]).toEqual([slots, []]);
  },
);

test("a missing queue row is raised", async () => {
  inFlight();
  bench.database.queues.clear();
  says({ status: "succeeded" });
  await expect(poll()).rejects.toThrow(/no queue/);
});

test("a queue row that somebody else keeps changing is tried again, then left to the next attempt", async () => {
  inFlight();
  says({ status: "succeeded" });
  const store = bench.context.store;
  let losses = 3;
  const context = {
    ...bench.context,
    store: {
      ...store,
      transact: <T>(work: Parameters<typeof store.transact<T>>[0]) =>
        store.transact<T>((tx) =>
          work({ ...tx, updateQueue: async (queue) => (losses-- > 0 ? false : await tx.updateQueue(queue)) }),
        ),
    },
  };
  expect(await pollBuild(context, bench.message("main/b1"))).toEqual({ kind: "done" });
  inFlight();
  losses = 1_000;
  expect(await verdictOf(pollBuild(context, bench.message("main/b1")))).toBe("infra-retryable");
});

test("past the deadline: cancelled, failed with its reason, recorded; the runner is not asked", async () => {
  inFlight();
  bench.putBuild({ status: "running", deadlineAtMs: bench.nowMs });
  says({ status: "succeeded" });
  expect(await poll()).toEqual({ kind: "done" });
  expect([bench.world.polls, bench.world.cancels]).toEqual([[], ["b1"]]);
  expect(bench.database.builds.get("main/b1")).toMatchObject({ status: "failed", reason: "timed_out" });
  expect(bench.request(1)).toMatchObject({ state: "failed", reason: "timed_out" });
  expect([bench.row?.slots, bench.database.published.length]).toEqual([[], 1]);
});

test("a hold ends at the deadline, not after it", async () => {
  inFlight();
  bench.putBuild({ status: "running", deadlineAtMs: bench.nowMs + 700 });
  expect(await poll()).toMatchObject({ delayMs: 700 });
});

test("a clock that jumps ahead gives up, one that jumps back waits at most the pace", async () => {
  inFlight();
  bench.nowMs -= 10 * 3_600_000;
  expect(await poll()).toMatchObject({ kind: "hold", delayMs: 2_000 });
  bench.nowMs += 20 * 3_600_000;
  expect(await poll()).toEqual({ kind: "done" });
});

test("a failed request closes the queue for a while, in the same change as it frees the slot", async () => {
  bench = stageBench({ cooldown_after_failure_ms: 9_000 });
  inFlight();
  says({ status: "failed" });
  await poll();
  expect(bench.row).toMatchObject({ slots: [], nextAdmissionAtMs: bench.nowMs + 9_000, version: 2 });
});

test("a queue that freed the slot before a crash is not touched again", async () => {
  inFlight();
  const freed = bench.putQueue({ slots: [] });
  bench.putBuild({ status: "succeeded" });
  await poll();
  expect(bench.row).toBe(freed);
  expect(bench.request(1)).toMatchObject({ state: "succeeded", version: 2 });
});
