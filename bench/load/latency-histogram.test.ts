import { expect, test } from "vitest";
import { LatencyHistogram } from "./latency-histogram.ts";

test("percentiles are right within the width of a bucket", () => {
  const histogram = new LatencyHistogram();
  for (let ms = 1; ms <= 1_000; ms += 1) histogram.record(ms);
  expect(histogram.count).toBe(1_000);
  for (const [share, ms] of [
    [0.5, 500],
    [0.99, 990],
    [1, 1_000],
  ] as const) {
    expect(histogram.percentile(share)).toBeGreaterThanOrEqual(ms * 0.98);
    expect(histogram.percentile(share)).toBeLessThanOrEqual(ms * 1.03);
  }
  expect(histogram.maxMs).toBe(1_000);
});

test("nothing recorded is 0, and what is out of bounds is counted at the bounds", () => {
  const histogram = new LatencyHistogram();
  expect(histogram.percentile(0.99)).toBe(0);
  histogram.record(0);
  histogram.record(1e9);
  expect(histogram.count).toBe(2);
});

test("histograms of several processes add up to the one of all", () => {
  const [all, odd, even, sum] = Array.from({ length: 4 }, () => new LatencyHistogram());
  for (let ms = 1; ms <= 500; ms += 1) {
    all?.record(ms);
    (ms % 2 === 1 ? odd : even)?.record(ms);
  }
  for (const part of [odd, even]) if (part !== undefined) sum?.add(part.taken());
  for (const share of [0, 0.1, 0.5, 0.9, 0.999, 1]) {
    expect(sum?.percentile(share)).toBe(all?.percentile(share));
  }
  expect([sum?.count, sum?.maxMs]).toEqual([500, 500]);
});
