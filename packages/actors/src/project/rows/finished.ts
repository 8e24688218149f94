import type { BepEvent } from "@millrace/proto/bep/kind";
import { readFinished } from "@millrace/proto/bep/readers/finished";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import type { RowsBuilder } from "../rows-builder.ts";
import { numberOrNull, present, presentText } from "./present.ts";

/** The exit code decides how the build ended; what sends none has at least said whether all went well. */
export function finishedRows(event: BepEvent, rows: RowsBuilder): boolean {
  const finished = readFinished(event);
  if (isMalformed(finished)) return false;
  rows.patchInvocation({
    exitCode: finished.exitCode ?? (finished.overallSuccess ? 0 : 1),
    ...presentText("exitCodeName", finished.exitCodeName),
    ...presentText("failureMessage", finished.failureMessage),
    ...present("finishedAtMs", finished.finishedAtMs),
  });
  const { category, code } = finished.failure;
  if (category !== 0 || finished.wasSuspended) {
    rows.patchDetails({
      failureCategory: numberOrNull(category),
      failureCode: numberOrNull(code),
      wasSuspended: finished.wasSuspended,
    });
  }
  return true;
}
