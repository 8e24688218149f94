import type { Malformed } from "../../wire/field-scanner.ts";
import type { BepEvent } from "../kind.ts";
import { scanPayload } from "../payload.ts";

/**
 * Progress, as ranges of `bytes`: console output is bytes, whatever the schema says, and is never decoded here.
 * An absent stream is an empty range. Shown in the order stderr, stdout.
 */
export interface Progress {
  readonly bytes: Uint8Array;
  readonly stdoutStart: number;
  readonly stdoutEnd: number;
  readonly stderrStart: number;
  readonly stderrEnd: number;
}

/** Reads a payload of kind `progress`. */
export function readProgress(event: BepEvent): Progress | Malformed {
  let stdoutStart = event.payloadStart;
  let stdoutEnd = event.payloadStart;
  let stderrStart = event.payloadStart;
  let stderrEnd = event.payloadStart;
  const scanner = scanPayload(event);
  while (scanner.next()) {
    if (scanner.isBytes(1)) {
      stdoutStart = scanner.from;
      stdoutEnd = scanner.to;
    } else if (scanner.isBytes(2)) {
      stderrStart = scanner.from;
      stderrEnd = scanner.to;
    }
  }
  if (scanner.malformed) return scanner.malformed;
  return { bytes: event.bytes, stdoutStart, stdoutEnd, stderrStart, stderrEnd };
}
