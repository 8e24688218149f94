import { expect, test } from "vitest";
import { retryAfterMs, untilEpochSecondsMs } from "./retry-after.ts";

const nowMs = Date.UTC(2026, 11, 1, 12, 0, 0);

test.each([
  ["0", 0],
  ["120", 120_000],
  [" 5 ", 5_000],
  ["99999", 3_600_000],
  ["Tue, 01 Dec 2026 12:00:30 GMT", 30_000],
  ["Tue, 01 Dec 2026 11:00:00 GMT", 0],
  ["Tuesday, 01-Dec-26 12:00:10 GMT", 10_000],
  ["Fri, 01 Jan 2027 00:00:00 GMT", 3_600_000],
  ["-5", undefined],
  ["1.5", undefined],
  ["soon", undefined],
  ["", undefined],
])("Retry-After %j asks to wait %j ms", (text, expected) => {
  expect(retryAfterMs(new Headers({ "retry-after": text }), nowMs)).toBe(expected);
});

test("without the header nothing is asked", () => {
  expect(retryAfterMs(new Headers(), nowMs)).toBeUndefined();
});

test("a time of reset is relative to now", () => {
  const at = (text: string) => untilEpochSecondsMs(new Headers({ reset: text }), { name: "reset", nowMs });
  expect(at(String(nowMs / 1_000 + 61))).toBe(61_000);
  expect(at(String(nowMs / 1_000 - 61))).toBe(0);
  expect(at("never")).toBeUndefined();
});
