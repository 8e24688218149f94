import { isMalformed, type Malformed } from "../../wire/field-scanner.ts";
import { readEventId } from "../event-id.ts";
import { type BepEvent, idField } from "../kind.ts";
import {
  type FailureDetail,
  type FileReference,
  noFailureDetail,
  readFailureDetail,
  readFile,
  scanPayload,
} from "../payload.ts";
import { TimeParts } from "../time-parts.ts";

/** ActionExecuted, with the label, output and configuration of its event's id. */
export interface ActionExecuted {
  readonly success: boolean;
  readonly exitCode: number;
  /** From the payload if it has one (Bazel's older form), else from the id. */
  readonly label: string;
  readonly configuration: string;
  /** The mnemonic. */
  readonly type: string;
  readonly primaryOutput: string;
  readonly startedAtMs: number | undefined;
  readonly endedAtMs: number | undefined;
  readonly failureMessage: string;
  readonly failure: FailureDetail;
  readonly commandLine: readonly string[];
  readonly stdout: FileReference | undefined;
  readonly stderr: FileReference | undefined;
}

/** The few fields by which an action is counted. */
export interface ActionHead {
  readonly success: boolean;
  readonly type: string;
  readonly startedAtMs: number | undefined;
  readonly endedAtMs: number | undefined;
}

/** Reads of a payload of kind `action` what it is counted by: with --build_event_publish_all_actions there are many. */
export function readActionHead(event: BepEvent): ActionHead | Malformed {
  let success = false;
  let type = "";
  const start = new TimeParts();
  const end = new TimeParts();
  const scanner = scanPayload(event);
  while (scanner.next()) {
    if (scanner.isVarint(1)) success = scanner.bool;
    else if (scanner.isBytes(8)) type = scanner.text;
    else if (scanner.isBytes(12)) start.read(scanner);
    else if (scanner.isBytes(13)) end.read(scanner);
  }
  return scanner.malformed ?? { success, type, startedAtMs: start.timestampMs, endedAtMs: end.timestampMs };
}

/** Reads a payload of kind `action`. */
export function readActionExecuted(event: BepEvent): ActionExecuted | Malformed {
  const id = readEventId(event);
  if (isMalformed(id)) return id;
  const isOfAction = event.id === idField.actionCompleted;
  const action = { success: false, exitCode: 0, label: "", type: "", failure: noFailureDetail };
  const commandLine: string[] = [];
  let stdout: FileReference | undefined;
  let stderr: FileReference | undefined;
  const start = new TimeParts();
  const end = new TimeParts();
  const scanner = scanPayload(event);
  while (scanner.next()) {
    if (scanner.isVarint(1)) action.success = scanner.bool;
    else if (scanner.isVarint(2)) action.exitCode = scanner.int32;
    else if (scanner.isBytes(3)) stdout = readFile(scanner, stdout);
    else if (scanner.isBytes(4)) stderr = readFile(scanner, stderr);
    else if (scanner.isBytes(5)) action.label = scanner.text;
    else if (scanner.isBytes(8)) action.type = scanner.text;
    else if (scanner.isBytes(9)) commandLine.push(scanner.text);
    else if (scanner.isBytes(11)) action.failure = readFailureDetail(scanner, action.failure);
    else if (scanner.isBytes(12)) start.read(scanner);
    else if (scanner.isBytes(13)) end.read(scanner);
  }
  if (scanner.malformed) return scanner.malformed;
  return {
    ...action,
    label: action.label || (isOfAction ? id.label : ""),
    configuration: isOfAction ? id.configuration : "",
    primaryOutput: isOfAction ? id.name : "",
    startedAtMs: start.timestampMs,
    endedAtMs: end.timestampMs,
    failureMessage: action.failure.message,
    commandLine,
    stdout,
    stderr,
  };
}
