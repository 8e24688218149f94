import { expect, test } from "vitest";
import { jsonLine, readableLine } from "./live-lines.ts";

const atMs = new Date(2026, 11, 1, 9, 3, 4).getTime();
const data = { project: "default", invocationId: "i-1", attempt: 1, command: "test", status: "failed" };

test("a fact is told by its last word, with command and outcome", () => {
  const fact = { type: "millrace.invocation.finished", data: { ...data, exitCodeName: "TESTS_FAILED" } };
  expect(readableLine({ kind: "fact", fact }, atMs)).toBe(
    "09:03:04 default i-1  FINISHED test failed TESTS_FAILED",
  );
});

test("that a build runs needs no word, that it is a later attempt does", () => {
  const fact = { type: "millrace.invocation.started", data: { ...data, status: "running", attempt: 2 } };
  expect(readableLine({ kind: "fact", fact }, atMs)).toBe("09:03:04 default i-1 attempt 2  STARTED test");
});

test("a digest tells how far a build has come", () => {
  const digest = { project: "default", invocationId: "i-1", attempt: 1, lastSequence: 1234, logBytes: 56789 };
  expect(readableLine({ kind: "digest", digest }, atMs)).toBe(
    "09:03:04 default i-1  1,234 events, 56,789 bytes of log",
  );
});

test("a fact of an unknown form has no readable line, and is whole as JSON", () => {
  const fact = { strange: true };
  expect(readableLine({ kind: "fact", fact }, atMs)).toBeUndefined();
  expect(JSON.parse(jsonLine({ kind: "fact", fact }))).toEqual({ fact });
});
