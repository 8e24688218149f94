import { abortReason, protocolName } from "@millrace/proto/bep/enums";
import { type EventId, readEventId } from "@millrace/proto/bep/event-id";
import { type BepEvent, idField, idName } from "@millrace/proto/bep/kind";
import { readAborted } from "@millrace/proto/bep/readers/aborted";
import { TargetStatus } from "@millrace/proto/pipeline";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import type { RowsBuilder } from "../rows-builder.ts";
import { patternsMax, patternsOf } from "./pattern.ts";
import { canonicalAspect, isKey, presentText, storable } from "./present.ts";

const targetIds: ReadonlySet<number> = new Set([idField.targetCompleted, idField.targetConfigured]);

/**
 * Something that was announced did not come. For a target that is its status, unless a real result says otherwise;
 * for anything else (a pattern, a label, the finish) it is why the build did not do what it was asked.
 */
export function abortedRows(event: BepEvent, rows: RowsBuilder, eventTimeMs: number | undefined): boolean {
  const id = readEventId(event);
  const aborted = readAborted(event);
  if (isMalformed(id) || isMalformed(aborted)) return false;
  const reason = protocolName(abortReason, aborted.reason);
  if (targetIds.has(event.id)) {
    const aspect = canonicalAspect(id.aspect);
    if (!isKey(id.label, aspect, id.configuration)) return true;
    rows.addTarget({
      label: storable(id.label),
      aspect: storable(aspect),
      configuration: storable(id.configuration),
      status: statusOf(aborted.reason),
      abortReason: reason,
      ...presentText("failureMessage", aborted.description),
      ...(eventTimeMs === undefined ? {} : { completedAtMs: eventTimeMs }),
    });
    return true;
  }
  if (event.id === idField.pattern) rows.patchInvocation(patternsOf(id.patterns));
  if (isNoFailure(aborted.reason)) return true;
  rows.addProblem({
    kind: idName(event.id),
    ...presentText("subject", subjectOf(id)),
    ...presentText("configuration", id.configuration),
    reason,
    ...presentText("description", aborted.description),
  });
  rows.patchInvocation({ abortReason: reason, ...presentText("failureMessage", aborted.description) });
  return true;
}

/** What it was about: a label, or the patterns. */
function subjectOf(id: EventId): string {
  return id.label !== "" ? id.label : id.patterns.slice(0, patternsMax).join(" ");
}

function statusOf(reason: number): TargetStatus {
  if (reason === abortReason.skipped) return TargetStatus.SKIPPED;
  return isNoFailure(reason) ? TargetStatus.NOT_BUILT : TargetStatus.ABORTED;
}

/** Nobody asked for more (--nobuild, --noanalyze), or the target does not apply. */
function isNoFailure(reason: number): boolean {
  return reason === abortReason.noBuild || reason === abortReason.noAnalyze || reason === abortReason.skipped;
}
