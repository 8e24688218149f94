import { expect, test } from "vitest";
import { historyLines, letterLines, queueLines, requestLines } from "./lines.ts";
import { requestOf } from "./operate.ts";

const request = {
  id: "request/main/7",
  number: 7,
  uri: "repo@c",
  state: "failed",
  reason: "timed_out",
  verdict: null,
  createdAt: "2030-01-01T00:00:00.000Z",
  endedAt: null,
  build: { id: "main/b", status: "running", url: "http://ci/1", deadlineAt: "2030-01-01T06:00:00.000Z" },
};

test("queues stand in columns, with who stopped them and why", () => {
  const queue = {
    name: "main",
    project: "default",
    runner: "fake",
    maxConcurrent: 2,
    slots: [{ requestId: "request/main/7", number: 7 }],
    waiting: 3,
    inProgress: 1,
    openLetters: 0,
    lastGreenUri: null,
    stopped: { since: "2030-01-01", reason: "repairs" },
  };
  const other = { ...queue, name: "a-longer-name", runner: null, maxConcurrent: null, stopped: null };
  expect(queueLines([queue, other])).toEqual([
    "QUEUE          PROJECT  RUNNER  SLOTS  WAITING  LETTERS  LAST GREEN",
    "main           default  fake    1/2    3        0        –           stopped since 2030-01-01: repairs",
    "a-longer-name  default  –       1/?    3        0        –",
  ]);
  expect(queueLines([])).toEqual(["There are no queues."]);
});

test("a request's state stands with why it is that", () => {
  expect(requestLines([request])[1]).toBe(
    "request/main/7  failed (timed_out)  repo@c  2030-01-01T00:00:00.000Z  http://ci/1",
  );
  const green = { ...request, state: "succeeded", reason: null, verdict: "green", build: null };
  expect(requestLines([green])[1]).toContain("succeeded (green)");
  expect(requestLines([])).toEqual(["There are no such requests."]);
});

test("a history tells builds with their deadlines, and who changed what", () => {
  const log = [{ at: "2030-01-01", who: "process", from: "accepted", to: "processing", reason: null }];
  const lines = historyLines({
    ...request,
    strategy: "incremental_since_green",
    baseUri: "repo@b",
    builds: [request.build],
    log,
  });
  expect(lines).toEqual([
    "request/main/7  failed (timed_out)",
    "commit repo@c",
    "strategy incremental_since_green since repo@b",
    "build main/b  running  deadline 2030-01-01T06:00:00.000Z  http://ci/1",
    "",
    "AT          BY       TO          BECAUSE",
    "2030-01-01  process  processing",
  ]);
});

test("letters stand with the number by which they are redriven", () => {
  const letter = {
    id: 12,
    stage: "build",
    queue: "main",
    messageId: "request/main/7",
    state: "open",
    occurrences: 2,
    lastReason: "403",
    lastFailedAt: "2030-01-01",
  };
  expect(letterLines([letter])[1]).toBe("12  build  request/main/7  open   2      2030-01-01  403");
});

test("a request is named with or without its first word, and nothing else is one", () => {
  expect([requestOf("main/7"), requestOf("request/main/7")]).toEqual(
    [0, 1].map(() => ({ queue: "main", number: 7, id: "request/main/7" })),
  );
  for (const wrong of ["main", "main/", "main/0", "main/x", "a b/1", "request/main/7/8"]) {
    expect(() => requestOf(wrong)).toThrow("names no request");
  }
});
