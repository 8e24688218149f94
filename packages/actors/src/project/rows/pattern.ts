import { type BepEvent, idField } from "@millrace/proto/bep/kind";
import { readPatternExpanded } from "@millrace/proto/bep/readers/pattern-expanded";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import type { RowsBuilder } from "../rows-builder.ts";
import { storable } from "./present.ts";

/** A row shows what was asked for, not a list of thousands; the raw event has it all. */
const patternsMax = 100;

/** The patterns as the invocation's row shows them. */
export function patternsOf(patterns: readonly string[]): { patterns: string[] } {
  return { patterns: patterns.slice(0, patternsMax).map(storable) };
}

/** The patterns of the command. */
export function patternRows(event: BepEvent, rows: RowsBuilder): boolean {
  const expanded = readPatternExpanded(event);
  if (isMalformed(expanded)) return false;
  if (event.id === idField.pattern && expanded.patterns.length > 0) {
    rows.patchInvocation(patternsOf(expanded.patterns));
  }
  return true;
}
