import { readAnnounced, readEventId } from "@millrace/proto/bep/event-id";
import { type BepEvent, idField } from "@millrace/proto/bep/kind";
import {
  copyTargetOutputs,
  readTargetComplete,
  readTargetConfigured,
  readTargetSummary,
} from "@millrace/proto/bep/readers/target";
import { TargetStatus } from "@millrace/proto/pipeline";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import type { RowsBuilder } from "../rows-builder.ts";
import { canonicalAspect, isKey, numberOrNull, storable, storableAll, textOrNull } from "./present.ts";

/**
 * A target that will be built. Its own id lacks the configuration; the completion that it announces has it. One
 * that announces none has a row without configuration.
 */
export function targetConfiguredRows(event: BepEvent, rows: RowsBuilder): boolean {
  const id = readEventId(event);
  const target = readTargetConfigured(event);
  const announced = readAnnounced(event, idField.targetCompleted);
  if (isMalformed(id) || isMalformed(target) || isMalformed(announced)) return false;
  const aspect = canonicalAspect(id.aspect);
  for (const { configuration } of announced.length > 0 ? announced : [{ configuration: "" }]) {
    if (!isKey(id.label, aspect, configuration)) continue;
    rows.addTarget({
      label: storable(id.label),
      aspect: storable(aspect),
      configuration: storable(configuration),
      status: TargetStatus.CONFIGURED,
      tags: storableAll(target.tags),
      targetKind: textOrNull(target.targetKind),
      testSize: target.testSize === 0 ? null : target.testSize,
    });
  }
  return true;
}

/** A target that was built, or failed to be. */
export function targetCompleteRows(
  event: BepEvent,
  rows: RowsBuilder,
  eventTimeMs: number | undefined,
): boolean {
  const id = readEventId(event);
  const target = readTargetComplete(event);
  if (isMalformed(id) || isMalformed(target)) return false;
  const aspect = canonicalAspect(id.aspect);
  if (!isKey(id.label, aspect, id.configuration)) return true;
  const outputs = copyTargetOutputs(event, outputsBytesMax);
  rows.addTarget({
    label: storable(id.label),
    aspect: storable(aspect),
    configuration: storable(id.configuration),
    status: target.success ? TargetStatus.BUILT : TargetStatus.FAILED,
    tags: storableAll(target.tags),
    targetKind: textOrNull(target.targetKind),
    testSize: target.testSize === 0 ? null : target.testSize,
    failureMessage: textOrNull(target.failureMessage),
    completedAtMs: eventTimeMs ?? null,
    outputsSequence: outputs === undefined || outputs.length === 0 ? null : rows.keepOutputs(outputs),
    testTimeoutMs: target.testTimeoutMs ?? null,
  });
  return true;
}

/** Of a target with more output groups, or files inlined in them, only the raw event has them. At most a block's size. */
const outputsBytesMax = 60 * 1024;

/** How a target with its tests ended. It says nothing of how it was built: that keeps its status. */
export function targetSummaryRows(event: BepEvent, rows: RowsBuilder): boolean {
  const id = readEventId(event);
  const summary = readTargetSummary(event);
  if (isMalformed(id) || isMalformed(summary)) return false;
  if (!isKey(id.label, id.configuration)) return true;
  rows.addTarget({
    label: storable(id.label),
    aspect: "",
    configuration: storable(id.configuration),
    status: TargetStatus.CONFIGURED,
    overallSuccess: summary.overallBuildSuccess,
    overallTestStatus: numberOrNull(summary.overallTestStatus),
  });
  return true;
}
