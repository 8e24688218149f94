import { describe, expect, test } from "vitest";
import { bytesText, countOf } from "./amounts.ts";
import { clockText, durationText } from "./duration.ts";
import { agoText } from "./time.ts";

describe("durations", () => {
  test.each([
    [0, "0 ms"],
    [999, "999 ms"],
    [1_000, "1.0 s"],
    [4_240, "4.2 s"],
    [9_949, "9.9 s"],
    [9_960, "10 s"],
    [59_400, "59 s"],
    [59_600, "1m 00s"],
    [64_000, "1m 04s"],
    [3_599_600, "1h 00m"],
    [7_500_000, "2h 05m"],
  ])("%d ms is %s", (ms, text) => expect(durationText(ms)).toBe(text));

  test("a clock ticks whole seconds", () => {
    expect([1_999, 2_000, 61_500, -5].map(clockText)).toEqual(["1 s", "2 s", "1m 01s", "0 s"]);
  });
});

describe("ages", () => {
  const now = Date.UTC(2026, 11, 1);
  test.each([
    [4_000, "now"],
    [59_000, "59s"],
    [60_000, "1m"],
    [3_600_000, "1h"],
    [86_400_000 * 3, "3d"],
  ])("%d ms ago is %s", (ms, text) => expect(agoText(now - ms, now)).toBe(text));

  test("a clock that is ahead of ours is no negative age", () => {
    expect(agoText(now + 60_000, now)).toBe("now");
  });
});

test("amounts", () => {
  expect([0, 999, 1_000, 4_100, 52_000_000, 999_600, 1.5e12].map(bytesText)).toEqual([
    "0 B",
    "999 B",
    "1.0 kB",
    "4.1 kB",
    "52 MB",
    "1.0 MB",
    "1.5 TB",
  ]);
  expect([countOf(1, "test"), countOf(12_345, "test")]).toEqual(["1 test", "12,345 tests"]);
});
