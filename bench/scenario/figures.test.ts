import { expect, test } from "vitest";
import { figuresOf, median, medianFigures } from "./figures.ts";

test("figures are the numbers of a line and of its parts, not what says where it comes from", () => {
  const line = {
    scenario: "flat",
    plan: { streams: 200 },
    eventsPerSecond: 10,
    oracle: "clean",
    cpuMicrosPerEvent: { ingest: 3, total: 5 },
  };
  expect(figuresOf(line)).toEqual({
    eventsPerSecond: 10,
    "cpuMicrosPerEvent.ingest": 3,
    "cpuMicrosPerEvent.total": 5,
  });
});

test("the median is the one in the middle, or between the two", () => {
  expect(median([3])).toBe(3);
  expect(median([9, 1, 4])).toBe(4);
  expect(median([4, 1, 2, 100])).toBe(3);
});

test("a median line has the figures that all lines have", () => {
  const lines = [{ a: 1, b: 5 }, { a: 3 }, { a: 2, b: 6 }];
  expect(medianFigures(lines)).toEqual({ a: 2 });
});
