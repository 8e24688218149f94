import { isDeepStrictEqual } from "node:util";
import type { RowsInWords } from "./in-words-of-the-model.ts";
import { saidTables } from "./reduce-said.ts";

/**
 * Where stored rows are not what the reducer expects, in words; empty when they are. `laterByMs`: how much later the
 * events were sent than those that were reduced, which moves the times that come from events.
 */
export function rowDifferences(of: {
  readonly stored: RowsInWords;
  readonly expected: RowsInWords;
  readonly laterByMs?: number;
}): string[] {
  const { stored, expected, laterByMs = 0 } = of;
  const ended = expected.invocation.status !== "running";
  // While a build runs its totals are counted when they are read.
  const invocation = ended
    ? expected.invocation
    : { ...expected.invocation, counters: stored.invocation.counters };
  return [
    ...fieldDifferences("invocation", { stored: stored.invocation, expected: invocation, laterByMs }),
    ...tables.flatMap((table) =>
      tableDifferences(table, { stored: stored[table], expected: expected[table], laterByMs }),
    ),
  ];
}

const tables = ["targets", "testResults", "testSummaries", ...saidTables] as const;

type Fields = Readonly<Record<string, unknown>>;
type Table = ReadonlyMap<string, object>;

function tableDifferences(
  table: string,
  of: { stored: Table; expected: Table; laterByMs: number },
): string[] {
  const { stored, expected, laterByMs } = of;
  const differences: string[] = [];
  for (const [key, row] of expected) {
    const found = stored.get(key);
    if (found === undefined) differences.push(`${table}: ${key} is missing`);
    else
      differences.push(...fieldDifferences(`${table}: ${key}`, { stored: found, expected: row, laterByMs }));
  }
  for (const key of stored.keys()) if (!expected.has(key)) differences.push(`${table}: ${key} is extra`);
  return differences;
}

function fieldDifferences(
  where: string,
  of: { stored: object; expected: object; laterByMs: number },
): string[] {
  const stored: Fields = { ...of.stored };
  const differences: string[] = [];
  for (const [field, value] of Object.entries(of.expected)) {
    const isMoved = field === "completedAtMs" && typeof value === "number";
    const expected = isMoved ? value + of.laterByMs : value;
    const found = stored[field];
    if (found === expected || (typeof found === "object" && isDeepStrictEqual(found, expected))) continue;
    differences.push(`${where}: ${field} is ${show(found)} where ${show(expected)} is expected`);
  }
  return differences;
}

function show(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 200);
}
