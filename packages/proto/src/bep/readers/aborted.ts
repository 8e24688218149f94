import type { Malformed } from "../../wire/field-scanner.ts";
import type { BepEvent } from "../kind.ts";
import { scanPayload } from "../payload.ts";

/** Aborted. What was aborted is in the event's id. */
export interface Aborted {
  /** Number of Aborted.AbortReason; see `abortReason`. */
  readonly reason: number;
  readonly description: string;
}

/** Reads a payload of kind `aborted`. */
export function readAborted(event: BepEvent): Aborted | Malformed {
  let reason = 0;
  let description = "";
  const scanner = scanPayload(event);
  while (scanner.next()) {
    if (scanner.isVarint(1)) reason = scanner.int32;
    else if (scanner.isBytes(2)) description = scanner.text;
  }
  return scanner.malformed ?? { reason, description };
}
