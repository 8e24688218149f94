import { FieldScanner } from "../wire/field-scanner.ts";
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
