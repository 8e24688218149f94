import type { BepEvent } from "@millrace/proto/bep/kind";
import { locateNamedSet } from "@millrace/proto/bep/named-set-block";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import type { RowsBuilder } from "../rows-builder.ts";

/** A named set goes into a block as it is. It is never decoded here, let alone expanded. */
export function namedSetRows(event: BepEvent, rows: RowsBuilder): boolean {
  const place = locateNamedSet(event);
  if (isMalformed(place)) return false;
  rows.sets.add(place, { from: event.payloadStart, to: event.payloadEnd });
  return true;
}
