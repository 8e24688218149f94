import { expect, test } from "vitest";
import { compareLines } from "./compare-lines.ts";

const line = (eventsPerSecond: number, more: object = {}) => ({
  scenario: "flat",
  workload: { name: "tiny", hash: "1" },
  machine: { cores: 2, loadAverage: eventsPerSecond },
  oracle: "clean",
  eventsPerSecond,
  ...more,
});

function verdictOf(a: readonly number[], b: readonly number[]) {
  const [comparison] = compareLines(
    a.map((value) => line(value)),
    b.map((value) => line(value)),
  );
  return comparison?.figures[0];
}

test("medians that lie farther apart than the runs of either set differ", () => {
  expect(verdictOf([100, 104, 102], [110, 109, 113])).toMatchObject({
    name: "eventsPerSecond",
    a: 102,
    b: 110,
    verdict: "different",
  });
});

test("medians that lie closer than the runs of one of the sets are noise", () => {
  expect(verdictOf([100, 104, 102], [105, 100, 120])?.verdict).toBe("noise");
  expect(verdictOf([100, 112, 102], [109, 110, 111])?.verdict).toBe("noise");
});

test("one run says nothing about noise", () => {
  expect(verdictOf([100, 104, 102], [200])?.verdict).toBe("one run");
  expect(verdictOf([100], [100])?.verdict).toBe("equal");
});

test("scenarios that only one of them has are passed over; the change is in percent of the first", () => {
  const a = [line(100), line(1, { scenario: "huge" })];
  const comparisons = compareLines(a, [line(80), line(1, { scenario: "idle" })]);
  expect(comparisons.map(({ scenario }) => scenario)).toEqual(["flat"]);
  expect(comparisons[0]?.figures[0]?.changePercent).toBe(-20);
});

test("another workload, another machine, an unclean oracle raise doubts; another load average does not", () => {
  const doubtsOf = (more: object) => compareLines([line(1)], [line(2, more)])[0]?.doubts.length;
  expect(doubtsOf({})).toBe(0);
  expect(doubtsOf({ workload: { name: "tiny", hash: "2" } })).toBe(1);
  expect(doubtsOf({ machine: { cores: 4 }, oracle: "findings" })).toBe(2);
});
