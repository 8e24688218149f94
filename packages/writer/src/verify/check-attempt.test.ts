import type { StoredAttempt } from "@millrace/db/verify";
import { expect, test } from "vitest";
import { checkAttempt } from "./check-attempt.ts";

const whole: StoredAttempt = {
  attemptId: 7,
  project: "default",
  invocationId: "i",
  attempt: 1,
  lastEventSeq: 20,
  isFinished: true,
  isSwept: false,
  carry: null,
  status: "succeeded",
  eventCount: 20,
  logBytes: 100,
  logLines: 4,
  events: { end: 20, fault: null },
  log: { end: 100, lines: 4, fault: null, linesAreContinuous: true },
};
const carry = { logBytes: 100, logLines: 4 };

const messages = (over: Partial<StoredAttempt>, position: typeof carry | undefined = carry): string[] =>
  checkAttempt({ ...whole, ...over }, position).map((finding) => finding.message);

test("what is whole has no findings; nor has one that runs or was swept", () => {
  expect(messages({})).toEqual([]);
  const running = { isFinished: false, status: "running", eventCount: null, logBytes: null, logLines: null };
  expect(messages(running)).toEqual([]);
  expect(messages({ isFinished: false, isSwept: true, status: "disconnected" })).toEqual([]);
});

test.each<[string, Partial<StoredAttempt>, string]>([
  ["a hole", { events: { end: 20, fault: { expected: 5, found: 8 } } }, "events 5 to 7 are missing"],
  [
    "a double",
    { events: { end: 20, fault: { expected: 8, found: 5 } } },
    "events from 5 on are stored twice (8 was due)",
  ],
  [
    "events behind the position",
    { events: { end: 19, fault: null } },
    "the last stored event is 19, but 20 is acknowledged",
  ],
  [
    "a hole in the log",
    { log: { ...whole.log, fault: { expected: 10, found: 12 } } },
    "a piece of the log begins at byte 12 where 10 was due",
  ],
  [
    "line numbers that jump",
    { log: { ...whole.log, linesAreContinuous: false } },
    "the line numbers of the log's pieces do not follow each other",
  ],
  ["no row", { status: null }, "it has no row in invocations"],
  ["an end without a final status", { status: "running" }, "it has ended, but its status is running"],
  [
    "a sweep without a final status",
    { isFinished: false, isSwept: true, status: "running" },
    "it was closed by the sweep, but its status is running",
  ],
  [
    "a final status without an end",
    { isFinished: false, status: "failed" },
    "its status is failed, but its stream has not ended",
  ],
  [
    "wrong totals",
    { eventCount: 19 },
    "its row says 19 events, 100 bytes and 4 lines of log; stored are 20, 100 and 4",
  ],
])("%s is found", (_, over, message) => {
  expect(messages(over)).toEqual([message]);
});

test("a log of another length than the carry says is found, and a carry that is none", () => {
  const short = "the log has 100 bytes and 4 lines, but the carry says 90 and 4";
  expect(messages({}, { logBytes: 90, logLines: 4 })).toEqual([short]);
  expect(checkAttempt(whole, undefined).map(({ message }) => message)).toEqual(["the carry cannot be read"]);
});
