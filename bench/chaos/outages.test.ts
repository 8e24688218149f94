import { expect, test } from "vitest";
import { LatencyHistogram } from "../load/latency-histogram.ts";
import { acksOutside, acksWithin, nextCommitMs } from "./outages.ts";

function slice(fromMs: number, latenciesMs: readonly number[]) {
  const acks = new LatencyHistogram();
  for (const latencyMs of latenciesMs) acks.record(latencyMs);
  return { fromMs, toMs: fromMs + 1_000, acks: acks.taken() };
}

const slices = [slice(0, [1, 2]), slice(1_000, [500]), slice(2_000, [900]), slice(3_000, [3])];

test("a slice that an outage touches is outside with none of its acks, one that ends where it begins with all", () => {
  const outage = { fromMs: 1_000, toMs: 2_500 };
  const outside = acksOutside(slices, [outage]);
  expect([outside.count, outside.maxMs]).toEqual([3, 3]);
  const within = acksWithin(slices, outage);
  expect([within.count, within.maxMs]).toEqual([2, 900]);
});

test("without outages all acks are outside, with one over all of it none", () => {
  expect(acksOutside(slices, []).count).toBe(5);
  expect(acksOutside(slices, [{ fromMs: -1, toMs: 9_000 }]).count).toBe(0);
});

const silence = (fromMs: number, toMs: number, dueMs = fromMs) => ({ shard: 1, fromMs, dueMs, toMs });

test("the next commit is that of the shard that was silent longest after the writer left", () => {
  expect(nextCommitMs(1_000, [silence(900, 2_000), silence(1_100, 3_500), silence(950, 1_200)])).toBe(2_400);
});

test("silences before it and those that begin well after it are not its own", () => {
  expect(nextCommitMs(5_000, [silence(900, 2_000), silence(6_000, 9_000)])).toBe(0);
});

test("what became due later has waited since then only", () => {
  expect(nextCommitMs(1_000, [silence(900, 9_000, 8_400)])).toBe(600);
});
