import { systemClock } from "@millrace/base/clock";
import { expect, test } from "vitest";
import type { FaultName } from "./fault.ts";
import { takeTurns } from "./fault-turns.ts";

/** A clock on which waiting takes no time. */
function scriptedClock() {
  let nowMs = 0;
  return {
    ...systemClock,
    now: () => nowMs,
    monotonic: () => nowMs,
    after: (delayMs: number, action: () => void) => {
      nowMs += delayMs;
      queueMicrotask(action);
      return () => {};
    },
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

function run(names: readonly FaultName[], of: { forMs: number; lastsMs: number }) {
  const clock = scriptedClock();
  let pids = { "writer-1": 1, ingest: 2 };
  return takeTurns(names, {
    forMs: of.forMs,
    clock,
    pids: () => pids,
    doFault: async (name, { ended }) => {
      if (name === "kill-writer") ended("writer-1");
      if (name === "kill-writer") pids = { ...pids, "writer-1": pids["writer-1"] + 1 };
      if (name === "crash-thread") pids = { ...pids, ingest: pids.ingest + 1 };
      clock.pass(of.lastsMs);
    },
  });
}

test("kills begin every 20 s, in turn, and none shortly before the end", async () => {
  const faults = await run(["kill-writer", "kill-nats"], { forMs: 80_000, lastsMs: 2_000 });
  expect(faults.map(({ name, fromMs, toMs }) => [name, fromMs, toMs])).toEqual([
    ["kill-writer", 5_000, 7_000],
    ["kill-nats", 25_000, 27_000],
    ["kill-writer", 45_000, 47_000],
  ]);
  const writer = { name: "writer-1", atMs: 5_000 };
  expect(faults.map(({ ended }) => ended)).toEqual([[writer], [], [{ ...writer, atMs: 45_000 }]]);
  expect(faults.flatMap(({ alsoDied }) => alsoDied)).toEqual([]);
});

test("after what lasts itself there is as much rest", async () => {
  const faults = await run(["stop-nats", "cut"], { forMs: 80_000, lastsMs: 15_000 });
  expect(faults.map(({ fromMs }) => fromMs)).toEqual([5_000, 40_000]);
});

test("a process that dies without having been told to is noted", async () => {
  const faults = await run(["crash-thread", "cut"], { forMs: 60_000, lastsMs: 0 });
  expect(faults.map(({ alsoDied }) => alsoDied)).toEqual([["ingest"], []]);
});

test("a short time has one fault, and a fault that cannot be done ends it", async () => {
  expect(await run(["cut"], { forMs: 3_000, lastsMs: 0 })).toHaveLength(1);
  const failing = takeTurns(["cut"], {
    forMs: 90_000,
    clock: scriptedClock(),
    pids: () => ({}),
    doFault: () => Promise.reject(new Error("no")),
  });
  await expect(failing).rejects.toThrow("no");
});
