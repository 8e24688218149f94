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
