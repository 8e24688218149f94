import type { FieldScanner, Malformed } from "../../wire/field-scanner.ts";
import type { BepEvent } from "../kind.ts";
import { copyOf, type FileReference, readFile, scanPayload } from "../payload.ts";
import { TimeParts } from "../time-parts.ts";

/** TestResult: one attempt. Label, run, shard, attempt and configuration are in the event's id. */
export interface TestResult {
  /** Number of build_event_stream.TestStatus; see `testStatus`. */
  readonly status: number;
  readonly statusDetails: string;
  readonly cachedLocally: boolean;
  readonly cachedRemotely: boolean;
  readonly startedAtMs: number | undefined;
  readonly durationMs: number | undefined;
  readonly strategy: string;
  readonly hostname: string;
  /** Of the test process; 0 also when unknown. */
  readonly exitCode: number;
  readonly outputs: readonly FileReference[];
  readonly warnings: readonly string[];
  /** The ExecutionInfo as it was sent: timing, resources, timeout. Undefined when there is none. */
  readonly executionInfo: Uint8Array | undefined;
}

/** Reads a payload of kind `testResult`. */
export function readTestResult(event: BepEvent): TestResult | Malformed {
  const result = { status: 0, statusDetails: "", cachedLocally: false };
  const execution = { strategy: "", hostname: "", cachedRemotely: false, exitCode: 0 };
  let startMillis = 0;
  let durationMillis = 0;
  const start = new TimeParts();
  const duration = new TimeParts();
  const outputs: FileReference[] = [];
  const warnings: string[] = [];
  let executionInfo: Uint8Array | undefined;
  const scanner = scanPayload(event);
  while (scanner.next()) {
    if (scanner.isBytes(2)) outputs.push(readFile(scanner));
    else if (scanner.isVarint(3)) durationMillis = scanner.int64;
    else if (scanner.isVarint(4)) result.cachedLocally = scanner.bool;
    else if (scanner.isVarint(5)) result.status = scanner.int32;
    else if (scanner.isVarint(6)) startMillis = scanner.int64;
    else if (scanner.isBytes(7)) warnings.push(scanner.text);
    else if (scanner.isBytes(8)) {
      readExecutionInfo(scanner, execution);
      // Parts of one message, if a sender makes some, are one behind the other.
      const part = copyOf(scanner.bytes, scanner.from, scanner.to);
      executionInfo = executionInfo === undefined ? part : joined(executionInfo, part);
    } else if (scanner.isBytes(9)) result.statusDetails = scanner.text;
    else if (scanner.isBytes(10)) start.read(scanner);
    else if (scanner.isBytes(11)) duration.read(scanner);
  }
  if (scanner.malformed) return scanner.malformed;
  return {
    ...result,
    ...execution,
    startedAtMs: start.orMillis(startMillis),
    durationMs: duration.orMillis(durationMillis),
    outputs,
    warnings,
    executionInfo,
  };
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  return Uint8Array.from(Buffer.concat([first, second]));
}

function readExecutionInfo(
  outer: FieldScanner,
  execution: { strategy: string; hostname: string; cachedRemotely: boolean; exitCode: number },
): void {
  const scanner = outer.child();
  while (scanner.next()) {
    if (scanner.isBytes(2)) execution.strategy = scanner.text;
    else if (scanner.isBytes(3)) execution.hostname = scanner.text;
    else if (scanner.isVarint(6)) execution.cachedRemotely = scanner.bool;
    else if (scanner.isVarint(7)) execution.exitCode = scanner.int32;
  }
}
