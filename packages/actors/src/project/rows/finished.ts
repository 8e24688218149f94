import type { BepEvent } from "@millrace/proto/bep/kind";
import { readFinished } from "@millrace/proto/bep/readers/finished";
import { readMetrics } from "@millrace/proto/bep/readers/metrics";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import type { RowsBuilder } from "../rows-builder.ts";
import { present, presentText } from "./present.ts";

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
  return true;
}

/** The few numbers that a list of builds shows. */
export function metricsRows(event: BepEvent, rows: RowsBuilder): boolean {
  const metrics = readMetrics(event);
  if (isMalformed(metrics)) return false;
  rows.patchInvocation({
    actionsExecuted: metrics.actionsExecuted,
    wallTimeMs: metrics.wallTimeMs,
    cpuTimeMs: metrics.cpuTimeMs,
  });
  return true;
}
