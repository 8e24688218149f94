import { type BepEvent, idField, idName } from "@millrace/proto/bep/kind";
import { readPatternExpanded, type TestSuite } from "@millrace/proto/bep/readers/pattern-expanded";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import type { RowsBuilder } from "../rows-builder.ts";
import { presentText, storable, storableAll } from "./present.ts";

/** A row shows what was asked for, not a list of thousands; the raw event has it all. */
export const patternsMax = 100;

/** The patterns as the invocation's row shows them. */
export function patternsOf(patterns: readonly string[]): { patterns: string[] } {
  return { patterns: patterns.slice(0, patternsMax).map(storable) };
}

function suitesJson(suites: readonly TestSuite[]): string {
  const entries = suites
    .slice(0, patternsMax)
    .map(({ label, tests }) => [storable(label), storableAll(tests)]);
  return JSON.stringify(Object.fromEntries(entries));
}

/** The patterns of the command and how much they stand for, or patterns that stand for nothing. */
export function patternRows(event: BepEvent, rows: RowsBuilder): boolean {
  const expanded = readPatternExpanded(event);
  if (isMalformed(expanded)) return false;
  if (event.id === idField.pattern && expanded.patterns.length > 0) {
    rows.patchInvocation(patternsOf(expanded.patterns));
    rows.patchDetails({
      patternTargets: expanded.childCount,
      ...(expanded.testSuites.length > 0 ? { testSuites: suitesJson(expanded.testSuites) } : {}),
    });
  }
  if (expanded.skipped) {
    const subject = expanded.patterns.slice(0, patternsMax).join(" ");
    rows.addProblem({
      kind: idName(event.id),
      ...presentText("subject", subject),
      reason: "SKIPPED_PATTERN",
    });
  }
  return true;
}
