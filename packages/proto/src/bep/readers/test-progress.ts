import { isMalformed, type Malformed } from "../../wire/field-scanner.ts";
import { readIdNumber } from "../event-id.ts";
import { type BepEvent, idField } from "../kind.ts";
import { scanPayload } from "../payload.ts";

/** TestProgress: where the log of a running test can be read. Label, run, shard and attempt are in the event's id. */
export interface TestProgress {
  readonly uri: string;
  /** Grows with every such event of one attempt. */
  readonly opaqueCount: number;
}

const opaqueCountField = 6;

/** Reads a payload of kind `testProgress`. */
export function readTestProgress(event: BepEvent): TestProgress | Malformed {
  let uri = "";
  const scanner = scanPayload(event);
  while (scanner.next()) if (scanner.isBytes(1)) uri = scanner.text;
  if (scanner.malformed) return scanner.malformed;
  const count = event.id === idField.testProgress ? readIdNumber(event, opaqueCountField) : { value: 0 };
  return isMalformed(count) ? count : { uri, opaqueCount: count.value };
}
