import type { Malformed } from "../../wire/field-scanner.ts";
import type { BepEvent } from "../kind.ts";
import { scanPayload } from "../payload.ts";
import { TimeParts } from "../time-parts.ts";

/** BuildStarted. Texts are "" when absent; host and user come with Bazel 9 only. */
export interface Started {
  readonly uuid: string;
  readonly startedAtMs: number | undefined;
  /** "" with distribution builds of Bazel. */
  readonly toolVersion: string;
  readonly optionsDescription: string;
  readonly command: string;
  readonly workingDirectory: string;
  readonly workspaceDirectory: string;
  readonly serverPid: number;
  readonly host: string;
  readonly user: string;
}

/** Reads a payload of kind `started`. */
export function readStarted(event: BepEvent): Started | Malformed {
  const text = { uuid: "", toolVersion: "", optionsDescription: "", command: "" };
  const place = { workingDirectory: "", workspaceDirectory: "", host: "", user: "" };
  let serverPid = 0;
  let startMillis = 0;
  const startTime = new TimeParts();
  const scanner = scanPayload(event);
  while (scanner.next()) {
    if (scanner.isBytes(1)) text.uuid = scanner.text;
    else if (scanner.isVarint(2)) startMillis = scanner.int64;
    else if (scanner.isBytes(3)) text.toolVersion = scanner.text;
    else if (scanner.isBytes(4)) text.optionsDescription = scanner.text;
    else if (scanner.isBytes(5)) text.command = scanner.text;
    else if (scanner.isBytes(6)) place.workingDirectory = scanner.text;
    else if (scanner.isBytes(7)) place.workspaceDirectory = scanner.text;
    else if (scanner.isVarint(8)) serverPid = scanner.int64;
    else if (scanner.isBytes(9)) startTime.read(scanner);
    else if (scanner.isBytes(10)) place.host = scanner.text;
    else if (scanner.isBytes(11)) place.user = scanner.text;
  }
  if (scanner.malformed) return scanner.malformed;
  return { ...text, ...place, serverPid, startedAtMs: startTime.orMillis(startMillis) };
}
