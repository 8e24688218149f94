import type { Malformed } from "../../wire/field-scanner.ts";
import type { BepEvent } from "../kind.ts";
import { type FileReference, readFile, scanPayload } from "../payload.ts";

/** NamedSetOfFiles, counted. Its id is the `name` of the event's id; the set is never expanded here. */
export interface NamedSet {
  readonly fileCount: number;
  readonly fileSetCount: number;
}

/** Counts a payload of kind `namedSetOfFiles`. */
export function readNamedSet(event: BepEvent): NamedSet | Malformed {
  let fileCount = 0;
  let fileSetCount = 0;
  const scanner = scanPayload(event);
  while (scanner.next()) {
    if (scanner.isBytes(1)) fileCount += 1;
    else if (scanner.isBytes(2)) fileSetCount += 1;
  }
  return scanner.malformed ?? { fileCount, fileSetCount };
}

/** Reads the files of a payload of kind `buildToolLogs`: profile, execution log and the like. Inline ones have no URI. */
export function readBuildToolLogs(event: BepEvent): readonly FileReference[] | Malformed {
  const logs: FileReference[] = [];
  const scanner = scanPayload(event);
  while (scanner.next()) if (scanner.isBytes(1)) logs.push(readFile(scanner));
  return scanner.malformed ?? logs;
}
