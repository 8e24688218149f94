import { type BepEvent, payloadField } from "@millrace/proto/bep/kind";
import { type FileReference, readFile, scanPayload } from "@millrace/proto/bep/payload";
import { FieldScanner } from "@millrace/proto/wire/field-scanner";

/** build_event_stream.NamedSetOfFiles, OutputGroup and TargetComplete: numbers of the fields that hold files. */
const setFiles = 1;
const setChildren = 2;
const outputGroup = 2;
const importantOutput = 4;
const directoryOutput = 8;
const groupName = 1;
const groupSets = 3;
const groupFiles = 5;
const setId = 1;

const setBytesMax = 64 << 20;

/** A file that a target produced. */
export interface OutputFile extends FileReference {
  readonly isDirectory: boolean;
  readonly group: string;
}

/** The files that one `completed` event names itself, and the sets that hold the others. */
export interface TargetOutputs {
  readonly files: readonly OutputFile[];
  readonly sets: readonly { readonly id: string; readonly group: string }[];
}

/**
 * Named sets as they came: undecoded, a copy of each payload, at most 64 MiB in all. Decoding waits until somebody asks for
 * files: most builds end without that.
 */
export class FileGraph {
  private readonly sets = new Map<string, Buffer>();
  private bytes = 0;
  /** True when a set was dropped for lack of room. */
  isIncomplete = false;

  add(id: string, event: BepEvent): void {
    const length = event.payloadEnd - event.payloadStart;
    const before = this.sets.get(id)?.length ?? 0;
    if (this.bytes - before + length > setBytesMax) {
      this.isIncomplete = true;
      return;
    }
    this.bytes += length - before;
    this.sets.set(id, Buffer.from(event.bytes.subarray(event.payloadStart, event.payloadEnd)));
  }

  /** Files of the sets below `roots`, each set once however often it is reached; circles end by themselves. */
  *files(roots: TargetOutputs["sets"]): Generator<OutputFile> {
    const seen = new Set<string>();
    const open = [...roots].reverse();
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (seen.has(at.id)) continue;
      seen.add(at.id);
      const bytes = this.sets.get(at.id);
      if (bytes === undefined) continue;
      const scanner = new FieldScanner().reset(bytes, 0, bytes.length);
      while (scanner.next()) {
        if (scanner.isBytes(setFiles)) yield { ...readFile(scanner), isDirectory: false, group: at.group };
        else if (scanner.isBytes(setChildren)) open.push({ id: readSetId(scanner), group: at.group });
      }
    }
  }
}

/** Reads where the outputs of a `completed` event are. Damage inside ends the reading; what came before counts. */
export function readTargetOutputs(event: BepEvent): TargetOutputs {
  const files: OutputFile[] = [];
  const sets: { id: string; group: string }[] = [];
  if (event.payload !== payloadField.completed) return { files, sets };
  const scanner = scanPayload(event);
  while (scanner.next()) {
    if (scanner.isBytes(outputGroup)) readGroup(scanner, { files, sets });
    else if (scanner.isBytes(importantOutput)) {
      files.push({ ...readFile(scanner), isDirectory: false, group: "default" });
    } else if (scanner.isBytes(directoryOutput)) {
      files.push({ ...readFile(scanner), isDirectory: true, group: "default" });
    }
  }
  return { files, sets };
}

function readGroup(
  outer: FieldScanner,
  into: { files: OutputFile[]; sets: { id: string; group: string }[] },
): void {
  let group = "default";
  const ids: string[] = [];
  const files: FileReference[] = [];
  const scanner = outer.child();
  while (scanner.next()) {
    if (scanner.isBytes(groupName)) group = scanner.text;
    else if (scanner.isBytes(groupSets)) ids.push(readSetId(scanner));
    else if (scanner.isBytes(groupFiles)) files.push(readFile(scanner));
  }
  for (const id of ids) into.sets.push({ id, group });
  for (const file of files) into.files.push({ ...file, isDirectory: false, group });
}

function readSetId(outer: FieldScanner): string {
  let id = "";
  const scanner = outer.child();
  while (scanner.next()) if (scanner.isBytes(setId)) id = scanner.text;
  return id;
}
