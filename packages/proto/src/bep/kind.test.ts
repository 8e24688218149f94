import { expect, test } from "vitest";
import { build_event_stream } from "../gen/bep.js";
import { isMalformed } from "../wire/field-scanner.ts";
import { abortReason, protocolName, testStatus } from "./enums.ts";
import { readAnnounced, readEventId } from "./event-id.ts";
import { type BepEvent, idField, idName, payloadField, payloadName, readKind } from "./kind.ts";
import { readAborted } from "./readers/aborted.ts";
import { readFinished } from "./readers/finished.ts";
import { readProgress } from "./readers/progress.ts";
import { readStarted } from "./readers/started.ts";
import { readTestResult } from "./readers/test-result.ts";
import { readTestSummary } from "./readers/test-summary.ts";

type Event = build_event_stream.BuildEvent.$Properties;

function readBytes(bytes: Uint8Array): BepEvent {
  const event = readKind({ bytes, from: 0, to: bytes.length });
  if (isMalformed(event)) throw new Error(event.reason);
  return event;
}

function read(event: Event): BepEvent {
  return readBytes(build_event_stream.BuildEvent.encode(event).finish());
}

test("the kind is that of the payload, not of the id", () => {
  const event = read({
    id: { targetCompleted: { label: "//a:b" } },
    aborted: { reason: 9 },
    lastMessage: true,
  });
  expect(event).toMatchObject({
    payload: payloadField.aborted,
    id: idField.targetCompleted,
    lastMessage: true,
  });
  expect(readEventId(event)).toMatchObject({ label: "//a:b" });
  expect(readAborted(event)).toEqual({ reason: abortReason.noBuild, description: "" });
});

test("a payload newer than we are keeps its number, and its event stays readable", () => {
  const known = build_event_stream.BuildEvent.encode({ id: { progress: {} }, children: [{}, {}] }).finish();
  const event = readBytes(Buffer.concat([known, Uint8Array.from([0xfa, 0x01, 1, 65])]));
  expect(event).toMatchObject({ payload: 31, id: idField.progress, childCount: 2 });
  expect(payloadName(31)).toBe("field 31");
  expect(payloadName(payloadField.namedSetOfFiles)).toBe("namedSetOfFiles");
  expect(idName(idField.pattern)).toBe("pattern");
  expect(idName(0)).toBe("");
});

test("times are read in their older and their newer form, the newer first", () => {
  const startTime = { seconds: 12, nanos: 345_999_999 };
  expect(readStarted(read({ started: { startTimeMillis: 7000 } }))).toMatchObject({ startedAtMs: 7000 });
  expect(readStarted(read({ started: { startTime } }))).toMatchObject({ startedAtMs: 12_345 });
  expect(readStarted(read({ started: { startTimeMillis: 7000, startTime } }))).toMatchObject({
    startedAtMs: 12_345,
  });
  expect(readStarted(read({ started: {} }))).toMatchObject({ startedAtMs: undefined });
  expect(readFinished(read({ finished: { finishTimeMillis: 5 } }))).toMatchObject({ finishedAtMs: 5 });
  const old = { testAttemptStartMillisEpoch: 1, testAttemptDurationMillis: 2 };
  expect(readTestResult(read({ testResult: old }))).toMatchObject({ startedAtMs: 1, durationMs: 2 });
  const fresh = { testAttemptStart: { seconds: 1 }, testAttemptDuration: { nanos: 2_000_000 } };
  expect(readTestResult(read({ testResult: fresh }))).toMatchObject({ startedAtMs: 1000, durationMs: 2 });
  const summary = { firstStartTimeMillis: 1, lastStopTimeMillis: 2, totalRunDurationMillis: 3 };
  expect(readTestSummary(read({ testSummary: summary }))).toMatchObject({
    firstStartAtMs: 1,
    lastStopAtMs: 2,
    totalRunDurationMs: 3,
  });
});

test("an exit code of 0 is not the absence of one", () => {
  const ok = readFinished(read({ finished: { overallSuccess: true, exitCode: { name: "SUCCESS" } } }));
  expect(ok).toMatchObject({ exitCode: 0, exitCodeName: "SUCCESS" });
  expect(readFinished(read({ finished: { overallSuccess: true } }))).toMatchObject({ exitCode: undefined });
});

test("unknown enum values are kept as numbers", () => {
  // test_result { status: 77 }
  expect(readTestResult(readBytes(Uint8Array.from([0x52, 2, 0x28, 77])))).toMatchObject({ status: 77 });
  expect(protocolName(testStatus, 77)).toBe("77");
  expect(protocolName(testStatus, testStatus.failedToBuild)).toBe("FAILED_TO_BUILD");
  expect(protocolName(abortReason, abortReason.outOfMemory)).toBe("OUT_OF_MEMORY");
});

test("console bytes that are not UTF-8 are given as they are", () => {
  const bytes = Uint8Array.from([0x1a, 8, 0x0a, 2, 0xff, 0xfe, 0x12, 2, 0x80, 0x41]);
  const progress = readProgress(readBytes(bytes));
  if (isMalformed(progress)) throw new Error(progress.reason);
  expect([...progress.bytes.subarray(progress.stdoutStart, progress.stdoutEnd)]).toEqual([0xff, 0xfe]);
  expect([...progress.bytes.subarray(progress.stderrStart, progress.stderrEnd)]).toEqual([0x80, 0x41]);
});

test("a payload with a fault deep inside is malformed to its reader alone", () => {
  // testResult { execution_info { strategy: cut off } }
  const event = readBytes(Uint8Array.from([0x52, 4, 0x42, 2, 0x12, 9]));
  expect(event.payload).toBe(payloadField.testResult);
  expect(readTestResult(event)).toMatchObject({ kind: "malformed", offset: 5 });
});

test("only the given range is read", () => {
  const inner = build_event_stream.BuildEvent.encode({ progress: { stderr: "x" } }).finish();
  const bytes = Buffer.concat([Buffer.alloc(3, 0xff), inner, Buffer.alloc(3, 0xff)]);
  expect(readKind({ bytes, from: 3, to: 3 + inner.length })).toMatchObject({
    payload: payloadField.progress,
  });
});

test("a configured target announces its completion, with the configuration", () => {
  const targetCompleted = { label: "//a:b", aspect: "x", configuration: { id: "c" } };
  const event = read({
    id: { targetConfigured: { label: "//a:b", aspect: "x" } },
    children: [{ targetCompleted }, { progress: {} }, { targetCompleted: { label: "//a:b" } }],
    configured: {},
  });
  expect(readAnnounced(event, idField.targetCompleted)).toMatchObject([
    { label: "//a:b", aspect: "x", configuration: "c" },
    { label: "//a:b", aspect: "", configuration: "" },
  ]);
});
