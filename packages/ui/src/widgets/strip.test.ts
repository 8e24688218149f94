import { expect, test } from "vitest";
import { stripParts } from "./strip.tsx";

const none = { total: 0, done: 0, failed: 0 };
const noTests = { total: 0, passed: 0, failed: 0, flaky: 0 };

test("a finished test run shows its tests, what failed first", () => {
  const tests = { total: 10, passed: 6, failed: 1, flaky: 2 };
  expect(stripParts({ status: "failed", targets: none, tests })).toEqual([
    { tone: "failed", share: 0.1 },
    { tone: "flaky", share: 0.2 },
    { tone: "passed", share: 0.6 },
    { tone: "quiet", share: 0.1 },
  ]);
});

test("a running build shows how many of its targets are done", () => {
  const targets = { total: 8, done: 4, failed: 1 };
  expect(stripParts({ status: "running", targets, tests: noTests })).toEqual([
    { tone: "failed", share: 0.125 },
    { tone: "running", share: 0.375 },
    { tone: "idle", share: 0.5 },
  ]);
});

test("a build without targets shows nothing", () => {
  expect(stripParts({ status: "succeeded", targets: none, tests: noTests })).toEqual([]);
});
