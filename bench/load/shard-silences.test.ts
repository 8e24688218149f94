import { systemClock } from "@millrace/base/clock";
import { expect, test } from "vitest";
import { ShardSilences } from "./shard-silences.ts";

function silencesOf(acks: readonly (readonly [atMs: number, shard: number, latencyMs: number])[]) {
  let nowMs = 0;
  const silences = new ShardSilences({ ...systemClock, now: () => nowMs }, 250);
  for (const [atMs, shard, latencyMs] of acks) {
    nowMs = atMs;
    silences.ack(shard, latencyMs);
  }
  return silences.taken();
}

test("a shard that is silent while an event waits is noted, from its ack before to the one that ends it", () => {
  const found = silencesOf([
    [1_000, 7, 5],
    [1_900, 8, 5],
    [2_000, 7, 600],
  ]);
  expect(found).toEqual([{ shard: 7, fromMs: 1_000, dueMs: 1_400, toMs: 2_000 }]);
});

test("a shard with nothing to do is not silent, and one late event among others in time is no silence", () => {
  expect(
    silencesOf([
      [1_000, 7, 5],
      [9_000, 7, 5],
      [9_100, 7, 800],
    ]),
  ).toEqual([]);
});
