import type { Build } from "@millrace/client/client";
import { describe, expect, test } from "vitest";
import { commandText, nounOf, resultSentence } from "./sentence.ts";

const base = {
  status: "succeeded",
  command: "test",
  patterns: ["//..."],
  patternCount: 1,
  exitCode: 0,
  exitCodeName: "SUCCESS",
  targets: { total: 0, done: 0, failed: 0 },
  tests: { total: 0, passed: 0, failed: 0, flaky: 0 },
} as unknown as Build;

const build = (more: Partial<Build>): Build => ({ ...base, ...more });

describe("the result in a sentence", () => {
  test.each<[Partial<Build>, string]>([
    [{}, "Passed"],
    [{ targets: { total: 12, done: 12, failed: 0 } }, "Passed: 12 targets"],
    [{ tests: { total: 231, passed: 229, failed: 0, flaky: 2 } }, "Passed: 231 tests, 2 flaky"],
    [{ status: "failed", tests: { total: 231, passed: 230, failed: 1, flaky: 0 } }, "Failed: 1 of 231 tests"],
    [
      { status: "failed", exitCode: 2, exitCodeName: "COMMAND_LINE_ERROR" },
      "Failed: exit 2 (COMMAND_LINE_ERROR)",
    ],
    [{ status: "disconnected", exitCode: null, exitCodeName: null }, "Disconnected"],
    [{ status: "interrupted", exitCode: 8, exitCodeName: "INTERRUPTED" }, "Cancelled: exit 8 (INTERRUPTED)"],
    [{ status: "running" }, "Running"],
    [
      {
        status: "running",
        targets: { total: 1_200, done: 340, failed: 2 },
        tests: { total: 50, passed: 49, failed: 1, flaky: 0 },
      },
      "Running: 340 of 1,200 targets done, 50 tests finished, 3 failed so far",
    ],
  ])("%j", (more, sentence) => expect(resultSentence(build(more))).toBe(sentence));
});

test("the command line can be pasted into a shell", () => {
  expect(commandText(build({ patterns: ["//a/...", "-//b:c", "it's", "a b"] }))).toBe(
    "bazel test //a/... -//b:c 'it'\\''s' 'a b'",
  );
  expect(commandText(build({ command: null, patterns: [] }))).toBe("bazel");
});

test("a build is called by its command", () => {
  expect(["build", "test", "coverage", "query", null].map(nounOf)).toEqual([
    "build",
    "test run",
    "test run",
    "query",
    "build",
  ]);
});
