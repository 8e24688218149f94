import { isMalformed, type Malformed } from "../../wire/field-scanner.ts";
import { readEventId } from "../event-id.ts";
import { type BepEvent, idField } from "../kind.ts";
import { type FileReference, readFailureMessage, readFile, scanPayload } from "../payload.ts";
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
  readonly stdout: FileReference | undefined;
  readonly stderr: FileReference | undefined;
}

/** Reads a payload of kind `action`. The command line is not read. */
export function readActionExecuted(event: BepEvent): ActionExecuted | Malformed {
  const id = readEventId(event);
  if (isMalformed(id)) return id;
  const isOfAction = event.id === idField.actionCompleted;
  const action = { success: false, exitCode: 0, label: "", type: "", failureMessage: "" };
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
    else if (scanner.isBytes(11)) action.failureMessage = readFailureMessage(scanner, action.failureMessage);
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
    stdout,
    stderr,
  };
}
