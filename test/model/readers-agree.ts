import { readEventId } from "@millrace/proto/bep/event-id";
import { type BepEvent, idField, payloadField, readKind } from "@millrace/proto/bep/kind";
import { readAborted } from "@millrace/proto/bep/readers/aborted";
import { readActionExecuted } from "@millrace/proto/bep/readers/action";
import { readOptionsParsed, readUnstructuredCommandLine } from "@millrace/proto/bep/readers/command-line";
import { readBuildToolLogs, readNamedSet } from "@millrace/proto/bep/readers/files";
import { readFinished } from "@millrace/proto/bep/readers/finished";
import { readMetrics } from "@millrace/proto/bep/readers/metrics";
import { readPatternExpanded } from "@millrace/proto/bep/readers/pattern-expanded";
import { readProgress } from "@millrace/proto/bep/readers/progress";
import { readStarted } from "@millrace/proto/bep/readers/started";
import {
  readBuildMetadata,
  readConfiguration,
  readFetch,
  readLocalExecRoot,
  readWorkspaceStatus,
} from "@millrace/proto/bep/readers/surroundings";
import {
  readTargetComplete,
  readTargetConfigured,
  readTargetSummary,
} from "@millrace/proto/bep/readers/target";
import { readTestProgress } from "@millrace/proto/bep/readers/test-progress";
import { readTestResult } from "@millrace/proto/bep/readers/test-result";
import { readTestSummary } from "@millrace/proto/bep/readers/test-summary";
import { build_event_stream } from "@millrace/proto/gen/bep";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import { expect } from "vitest";
import { expectedId, expectedPayload } from "./bep-expectations.ts";

type Reader = (event: BepEvent) => unknown;

/** The hand-written readers by the name of the payload they read. */
export const readers: Readonly<Record<string, Reader>> = {
  started: readStarted,
  progress: (event) => progressText(event),
  aborted: readAborted,
  configured: readTargetConfigured,
  completed: readTargetComplete,
  testResult: readTestResult,
  testSummary: readTestSummary,
  finished: readFinished,
  buildMetrics: readMetrics,
  workspaceStatus: readWorkspaceStatus,
  buildMetadata: readBuildMetadata,
  optionsParsed: readOptionsParsed,
  unstructuredCommandLine: readUnstructuredCommandLine,
  expanded: readPatternExpanded,
  configuration: readConfiguration,
  namedSetOfFiles: readNamedSet,
  buildToolLogs: readBuildToolLogs,
  action: readActionExecuted,
  workspaceInfo: readLocalExecRoot,
  fetch: readFetch,
  targetSummary: readTargetSummary,
  testProgress: readTestProgress,
};

function progressText(event: BepEvent): unknown {
  const progress = readProgress(event);
  if (isMalformed(progress)) return progress;
  const { bytes, stdoutStart, stdoutEnd, stderrStart, stderrEnd } = progress;
  const text = (from: number, to: number) => Buffer.from(bytes.subarray(from, to)).toString();
  return { stdout: text(stdoutStart, stdoutEnd), stderr: text(stderrStart, stderrEnd) };
}

/** Every reader against the static decoder, on one BEP payload. Answers the payload's name. */
export function expectReadersAgree(payload: Uint8Array): string {
  const decoded = build_event_stream.BuildEvent.decode(payload);
  const event = readKind({ bytes: payload, from: 0, to: payload.length });
  if (isMalformed(event)) throw new Error(event.reason);
  const name = decoded.payload ?? "";
  expect(knownOr0(payloadField, event.payload)).toBe(fieldNumber(build_event_stream.BuildEvent, name));
  expect(knownOr0(idField, event.id)).toBe(
    fieldNumber(build_event_stream.BuildEventId, decoded.id?.id ?? ""),
  );
  expect(event.lastMessage).toBe(decoded.lastMessage);
  expect(event.childCount).toBe(decoded.children?.length ?? 0);
  expect(readEventId(event)).toEqual({ field: event.id, ...expectedId(decoded.id ?? {}) });
  const reader = readers[name];
  if (reader !== undefined) expect(inWhole(reader(event))).toEqual(expectedPayload(name, decoded));
  return name;
}

/** The execution info of a test result is handed on as bytes. */
function inWhole(read: unknown): unknown {
  const { executionInfo: bytes } = (read ?? {}) as { executionInfo?: Uint8Array };
  if (bytes === undefined) return read;
  return { ...(read as object), executionInfo: build_event_stream.TestResult.ExecutionInfo.decode(bytes) };
}

/** A kind newer than the schema is a number to the reader and nothing to the decoder. */
function knownOr0(known: Readonly<Record<string, number>>, field: number): number {
  return Object.values(known).includes(field) ? field : 0;
}

/** Field number of a oneof's member, found by encoding one. */
function fieldNumber(
  type: typeof build_event_stream.BuildEvent | typeof build_event_stream.BuildEventId,
  name: string,
): number {
  if (name === "") return 0;
  const bytes = type.encode({ [name]: {} }).finish();
  const first = bytes[0] ?? 0;
  return (first < 128 ? first : (first & 127) | ((bytes[1] ?? 0) << 7)) >>> 3;
}
