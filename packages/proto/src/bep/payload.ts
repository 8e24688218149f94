import { FieldScanner, wireBytes } from "../wire/field-scanner.ts";
import type { BepEvent } from "./kind.ts";

/** A scanner of an event's payload. */
export function scanPayload(event: BepEvent): FieldScanner {
  return new FieldScanner().reset(event.bytes, event.payloadStart, event.payloadEnd);
}

/** FailureDetail.message of the sub-message at hand, or `before` when it has none. Categories and codes are not read. */
export function readFailureMessage(outer: FieldScanner, before: string): string {
  let message = before;
  const scanner = outer.child();
  while (scanner.next()) if (scanner.isBytes(1)) message = scanner.text;
  return message;
}

/** What a FailureDetail says: category is the field number of its oneof, code the enum number in it; 0 for none. */
export interface FailureDetail {
  readonly message: string;
  readonly category: number;
  readonly code: number;
}

export const noFailureDetail: FailureDetail = { message: "", category: 0, code: 0 };

// Every category of failure_details.proto is a message whose field 1 is its code.
const codeField = 1;

/** Reads the FailureDetail at hand; goes on from `before` when the sender has split it. */
export function readFailureDetail(outer: FieldScanner, before: FailureDetail): FailureDetail {
  let { message, category, code } = before;
  const scanner = outer.child();
  while (scanner.next()) {
    if (scanner.isBytes(1)) message = scanner.text;
    else if (scanner.wireType === wireBytes) {
      if (category !== scanner.field) code = 0;
      category = scanner.field;
      code = readCode(scanner) ?? code;
    }
  }
  return { message, category, code };
}

/** A category that this version does not know may be no message at all: nothing else suffers from it. */
function readCode({ bytes, from, to }: FieldScanner): number | undefined {
  let code: number | undefined;
  const scanner = new FieldScanner().reset(bytes, from, to);
  while (scanner.next()) if (scanner.isVarint(codeField)) code = scanner.int32;
  return scanner.malformed ? undefined : code;
}

/** A copy of the event's whole payload; undefined when it has more than `bytesMax`. */
export function copyPayload(event: BepEvent, bytesMax: number): Uint8Array | undefined {
  if (event.payloadEnd - event.payloadStart > bytesMax) return undefined;
  return copyOf(event.bytes, event.payloadStart, event.payloadEnd);
}

/** A copy that keeps nothing of `bytes` alive: what travels to another thread takes its whole buffer along. */
export function copyOf(bytes: Uint8Array, from: number, to: number): Uint8Array {
  return Uint8Array.from(bytes.subarray(from, to));
}

/** A file by name and place. `uri` is "" when the file is inline or a symbolic link. */
export interface FileReference {
  readonly name: string;
  readonly uri: string;
}

// build_event_stream.File
const nameField = 1;
const uriField = 2;
const contentsField = 3;
const symlinkField = 7;

/** Reads the File at hand; goes on from `before` when the sender has split it. */
export function readFile(outer: FieldScanner, before: FileReference = { name: "", uri: "" }): FileReference {
  let { name, uri } = before;
  const scanner = outer.child();
  while (scanner.next()) {
    if (scanner.isBytes(nameField)) name = scanner.text;
    else if (scanner.isBytes(uriField)) uri = scanner.text;
    else if (scanner.isBytes(contentsField) || scanner.isBytes(symlinkField)) uri = "";
  }
  return { name, uri };
}

/** Reads the entry of a map<string, string> at hand into `map`. */
export function readMapEntry(outer: FieldScanner, map: Map<string, string>): void {
  let key = "";
  let value = "";
  const scanner = outer.child();
  while (scanner.next()) {
    if (scanner.isBytes(1)) key = scanner.text;
    else if (scanner.isBytes(2)) value = scanner.text;
  }
  map.set(key, value);
}
