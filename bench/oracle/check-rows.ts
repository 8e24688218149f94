import { inWordsOfTheModel } from "@millrace/test/model/in-words-of-the-model";
import { rowDifferences } from "@millrace/test/model/row-differences";
import { readStoredRows } from "@millrace/test/model/stored-rows";
import type { CheckedBuild } from "./check-attempt.ts";
import type { Expectations } from "./expectations.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Findings } from "./verdict.ts";

/** Compares the derived rows of builds with the independent reduction of what is stored of them. */
export async function checkRows(
  checked: readonly CheckedBuild[],
  world: { snapshot: Snapshot; expectations: Expectations; findings: Findings },
): Promise<void> {
  const { snapshot, expectations, findings } = world;
  const stored = await readStoredRows(
    (text, parameters) => snapshot.rows(text, parameters),
    checked.map(({ attempt }) => attempt.attemptId),
  );
  for (const { record, attempt } of checked) {
    const rows = stored.get(attempt.attemptId);
    if (rows === undefined) continue; // Reported as an attempt with half its rows.
    const { build } = record;
    const isWhole = attempt.lastEventSeq === build.events;
    const found = inWordsOfTheModel(rows);
    const { rows: whole } = expectations.of(build, attempt.lastEventSeq);
    // Whether the sweep came by is not in the events: status and totals of an open build are checked elsewhere.
    const { status, counters } = found.invocation;
    const expected = isWhole ? whole : { ...whole, invocation: { ...whole.invocation, status, counters } };
    for (const detail of rowDifferences({ stored: found, expected, laterByMs: build.startMs })) {
      findings.add("rows", { invocationId: build.invocationId, detail });
    }
  }
}
