import { readAnnounced, readEventId } from "@millrace/proto/bep/event-id";
import { type BepEvent, idField } from "@millrace/proto/bep/kind";
import { readTargetComplete, readTargetConfigured } from "@millrace/proto/bep/readers/target";
import { TargetStatus } from "@millrace/proto/pipeline";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import type { RowsBuilder } from "../rows-builder.ts";
import { present, presentText, storable } from "./present.ts";

/**
 * A target that will be built. Its own id lacks the configuration; the completion that it announces has it. One
 * that announces none has a row without configuration.
 */
export function targetConfiguredRows(event: BepEvent, rows: RowsBuilder): boolean {
  const id = readEventId(event);
  const target = readTargetConfigured(event);
  const announced = readAnnounced(event, idField.targetCompleted);
  if (isMalformed(id) || isMalformed(target) || isMalformed(announced)) return false;
  if (id.label === "") return true; // Nothing names the target.
  for (const { configuration } of announced.length > 0 ? announced : [{ configuration: "" }]) {
    rows.addTarget({
      label: storable(id.label),
      aspect: storable(id.aspect),
      configuration: storable(configuration),
      status: TargetStatus.CONFIGURED,
      tags: target.tags.map(storable),
      ...presentText("targetKind", target.targetKind),
      ...present("testSize", target.testSize === 0 ? undefined : target.testSize),
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
  if (id.label === "") return true; // Nothing names the target.
  rows.addTarget({
    label: storable(id.label),
    aspect: storable(id.aspect),
    configuration: storable(id.configuration),
    status: target.success ? TargetStatus.BUILT : TargetStatus.FAILED,
    tags: target.tags.map(storable),
    ...presentText("targetKind", target.targetKind),
    ...present("testSize", target.testSize === 0 ? undefined : target.testSize),
    ...presentText("failureMessage", target.failureMessage),
    ...present("completedAtMs", eventTimeMs),
  });
  return true;
}
