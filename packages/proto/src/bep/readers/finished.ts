import type { Malformed } from "../../wire/field-scanner.ts";
import type { BepEvent } from "../kind.ts";
import { type FailureDetail, noFailureDetail, readFailureDetail, scanPayload } from "../payload.ts";
import { TimeParts } from "../time-parts.ts";

/** BuildFinished. The exit code is what decides how a build ended; `overallSuccess` is its older, coarser form. */
export interface Finished {
  readonly overallSuccess: boolean;
  /** Undefined when the sender gave none; then nothing but `overallSuccess` is known. */
  readonly exitCode: number | undefined;
  readonly exitCodeName: string;
  readonly finishedAtMs: number | undefined;
  readonly failureMessage: string;
  readonly failure: FailureDetail;
  /** The machine slept while the build ran: its times say little. */
  readonly wasSuspended: boolean;
}

/** Reads a payload of kind `finished`. */
export function readFinished(event: BepEvent): Finished | Malformed {
  let overallSuccess = false;
  let exitCode: number | undefined;
  let exitCodeName = "";
  let finishMillis = 0;
  let failure = noFailureDetail;
  let wasSuspended = false;
  const finishTime = new TimeParts();
  const scanner = scanPayload(event);
  while (scanner.next()) {
    if (scanner.isVarint(1)) overallSuccess = scanner.bool;
    else if (scanner.isVarint(2)) finishMillis = scanner.int64;
    else if (scanner.isBytes(3)) {
      exitCode ??= 0;
      const inner = scanner.child();
      while (inner.next()) {
        if (inner.isBytes(1)) exitCodeName = inner.text;
        else if (inner.isVarint(2)) exitCode = inner.int32;
      }
    } else if (scanner.isBytes(4)) {
      const inner = scanner.child();
      while (inner.next()) if (inner.isVarint(1)) wasSuspended = inner.bool;
    } else if (scanner.isBytes(5)) finishTime.read(scanner);
    else if (scanner.isBytes(6)) failure = readFailureDetail(scanner, failure);
  }
  if (scanner.malformed) return scanner.malformed;
  const finishedAtMs = finishTime.orMillis(finishMillis);
  const failureMessage = failure.message;
  return { overallSuccess, exitCode, exitCodeName, finishedAtMs, failureMessage, failure, wasSuspended };
}
