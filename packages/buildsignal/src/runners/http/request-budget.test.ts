import { expect, test } from "vitest";
import { numberIn, sparingMs } from "./request-budget.ts";

test.each([
  [{ limit: 200, remaining: 200, resetMs: 42_000 }, undefined],
  [{ limit: 200, remaining: 20, resetMs: 42_000 }, undefined],
  [{ limit: 200, remaining: 19, resetMs: 42_000 }, 42_000],
  [{ limit: 5_000, remaining: 499, resetMs: 1_800_000 }, 60_000],
  [{ limit: 5_000, remaining: 0, resetMs: 1_800_000 }, 1_800_000],
])("a budget of %j asks to wait %j ms", (budget, expected) => {
  expect(sparingMs(budget)).toBe(expected);
});

test.each([
  ["42", 42],
  [" 0 ", 0],
  ["-1", undefined],
  ["4e2", undefined],
  ["", undefined],
])("a header of %j holds %j", (text, expected) => {
  expect(numberIn(new Headers({ x: text }), "x")).toBe(expected);
  expect(numberIn(new Headers(), "x")).toBeUndefined();
});
