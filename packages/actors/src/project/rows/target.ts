import { readAnnounced, readEventId } from "@millrace/proto/bep/event-id";
import { type BepEvent, idField } from "@millrace/proto/bep/kind";
import { readTargetComplete, readTargetConfigured } from "@millrace/proto/bep/readers/target";
import { TargetStatus } from "@millrace/proto/pipeline";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import type { RowsBuilder } from "../rows-builder.ts";
import { isKey, storable, storableAll, textOrNull } from "./present.ts";

/**
 * A target that will be built. Its own id lacks the configuration; the completion that it announces has it. One
 * that announces none has a row without configuration.
 */
export function targetConfiguredRows(event: BepEvent, rows: RowsBuilder): boolean {
  const id = readEventId(event);
  const target = readTargetConfigured(event);
  const announced = readAnnounced(event, idField.targetCompleted);
  if (isMalformed(id) || isMalformed(target) || isMalformed(announced)) return false;
  for (const { configuration } of announced.length > 0 ? announced : [{ configuration: "" }]) {
    if (!isKey(id.label, id.aspect, configuration)) continue;
    rows.addTarget({
      label: storable(id.label),
      aspect: storable(id.aspect),
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
  if (!isKey(id.label, id.aspect, id.configuration)) return true;
  rows.addTarget({
    label: storable(id.label),
    aspect: storable(id.aspect),
    configuration: storable(id.configuration),
    status: target.success ? TargetStatus.BUILT : TargetStatus.FAILED,
    tags: storableAll(target.tags),
    targetKind: textOrNull(target.targetKind),
    testSize: target.testSize === 0 ? null : target.testSize,
    failureMessage: textOrNull(target.failureMessage),
    completedAtMs: eventTimeMs ?? null,
  });
  return true;
}
