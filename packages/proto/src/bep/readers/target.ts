import type { Malformed } from "../../wire/field-scanner.ts";
import type { BepEvent } from "../kind.ts";
import { readFailureMessage, scanPayload } from "../payload.ts";
import { TimeParts } from "../time-parts.ts";

/** TargetConfigured. Label and aspect are in the event's id; the configuration is not known yet. */
export interface TargetConfigured {
  readonly targetKind: string;
  /** Number of build_event_stream.TestSize; 0 for what is no test. */
  readonly testSize: number;
  readonly tags: readonly string[];
}

/** TargetComplete. Label, aspect and configuration are in the event's id. */
export interface TargetComplete {
  readonly success: boolean;
  readonly tags: readonly string[];
  readonly targetKind: string;
  readonly testSize: number;
  readonly testTimeoutMs: number | undefined;
  /** "" when Bazel gave no reason; older ones never do. */
  readonly failureMessage: string;
  readonly outputGroupCount: number;
}

/** TargetSummary. Label and configuration are in the event's id. */
export interface TargetSummary {
  readonly overallBuildSuccess: boolean;
  /** Number of build_event_stream.TestStatus. */
  readonly overallTestStatus: number;
}

/** Reads a payload of kind `targetSummary`. */
export function readTargetSummary(event: BepEvent): TargetSummary | Malformed {
  let overallBuildSuccess = false;
  let overallTestStatus = 0;
  const scanner = scanPayload(event);
  while (scanner.next()) {
    if (scanner.isVarint(1)) overallBuildSuccess = scanner.bool;
    else if (scanner.isVarint(2)) overallTestStatus = scanner.int32;
  }
  return scanner.malformed ?? { overallBuildSuccess, overallTestStatus };
}

const outputGroupField = 2;
const importantOutputField = 4;
const directoryOutputField = 8;

/**
 * Of a payload of kind `completed` the fields `output_group` and `directory_output` as they were sent, one behind the
 * other; `important_output`, which says the same at greater length, where there is no group. Empty when there is none
 * of them; undefined when they are more than `bytesMax`.
 */
export function copyTargetOutputs(event: BepEvent, bytesMax: number): Uint8Array | undefined {
  const fields: Uint8Array[] = [];
  const important: Uint8Array[] = [];
  let hasGroup = false;
  const scanner = scanPayload(event);
  while (scanner.next()) {
    const isGroup = scanner.isBytes(outputGroupField);
    if (isGroup) hasGroup = true;
    const list = scanner.isBytes(importantOutputField) ? important : fields;
    if (isGroup || list === important || scanner.isBytes(directoryOutputField)) {
      list.push(scanner.bytes.subarray(scanner.start, scanner.to));
    }
  }
  if (!hasGroup) fields.push(...important);
  const size = fields.reduce((sum, field) => sum + field.length, 0);
  return size > bytesMax ? undefined : concatenated(fields, size);
}

function concatenated(parts: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Reads a payload of kind `configured`. */
export function readTargetConfigured(event: BepEvent): TargetConfigured | Malformed {
  let targetKind = "";
  let testSize = 0;
  const tags: string[] = [];
  const scanner = scanPayload(event);
  while (scanner.next()) {
    if (scanner.isBytes(1)) targetKind = scanner.text;
    else if (scanner.isVarint(2)) testSize = scanner.int32;
    else if (scanner.isBytes(3)) tags.push(scanner.text);
  }
  return scanner.malformed ?? { targetKind, testSize, tags };
}

/** Reads a payload of kind `completed`. Output files are not read: they are in named sets. */
export function readTargetComplete(event: BepEvent): TargetComplete | Malformed {
  let success = false;
  let targetKind = "";
  let testSize = 0;
  let timeoutSeconds = 0;
  let failureMessage = "";
  let outputGroupCount = 0;
  const tags: string[] = [];
  const timeout = new TimeParts();
  const scanner = scanPayload(event);
  while (scanner.next()) {
    if (scanner.isVarint(1)) success = scanner.bool;
    else if (scanner.isBytes(2)) outputGroupCount += 1;
    else if (scanner.isBytes(3)) tags.push(scanner.text);
    else if (scanner.isBytes(5)) targetKind = scanner.text;
    else if (scanner.isVarint(6)) testSize = scanner.int32;
    else if (scanner.isVarint(7)) timeoutSeconds = scanner.int64;
    else if (scanner.isBytes(9)) failureMessage = readFailureMessage(scanner, failureMessage);
    else if (scanner.isBytes(10)) timeout.read(scanner);
  }
  if (scanner.malformed) return scanner.malformed;
  const testTimeoutMs = timeout.orMillis(timeoutSeconds * 1000);
  return { success, tags, targetKind, testSize, testTimeoutMs, failureMessage, outputGroupCount };
}
