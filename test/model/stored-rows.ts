import { type SaidTable, saidTables } from "./reduce-said.ts";
import { type StoredSaid, saidTexts } from "./said-in-words.ts";

type Row = Readonly<Record<string, unknown>>;

/** Runs a statement. */
export type Query = (text: string, parameters: readonly unknown[]) => Promise<readonly Row[]>;

/** The derived rows of one attempt as the database has them. */
export interface StoredRows {
  readonly invocation: Row;
  readonly targets: readonly Row[];
  readonly testResults: readonly Row[];
  readonly testSummaries: readonly Row[];
  readonly said: StoredSaid;
}

const ms = (column: string, as: string): string =>
  `round(extract(epoch from ${column}) * 1000)::float8 as "${as}"`;

const texts = {
  invocation: `select *, ${ms("started_at", "startedAtMs")}, ${ms("finished_at", "finishedAtMs")} from invocations`,
  targets: `select *, ${ms("completed_at", "completedAtMs")} from targets`,
  testResults: `select *, ${ms("started_at", "startedAtMs")} from test_results`,
  testSummaries: `select *, ${ms("first_start_at", "firstStartAtMs")}, ${ms("last_stop_at", "lastStopAtMs")}
    from test_summaries`,
} as const;

/** Reads the rows of attempts by plain SQL of the tests' own; an attempt without a row in `invocations` is left out. */
export async function readStoredRows(
  query: Query,
  attemptIds: readonly number[],
): Promise<Map<number, StoredRows>> {
  const read = async (text: string): Promise<Map<number, Row[]>> => {
    const rows = await query(`${text} where attempt_id = any($1::bigint[])`, [`{${attemptIds.join()}}`]);
    return Map.groupBy(rows, (row) => Number(row["attempt_id"]));
  };
  const invocations = await read(texts.invocation);
  const targets = await read(texts.targets);
  const testResults = await read(texts.testResults);
  const testSummaries = await read(texts.testSummaries);
  const said = new Map<SaidTable, Map<number, Row[]>>();
  for (const table of saidTables) said.set(table, await read(saidTexts[table]));
  return new Map(
    [...invocations].flatMap(([id, [invocation]]) => {
      if (invocation === undefined) return [];
      const of = (rows: ReadonlyMap<number, Row[]>): Row[] => rows.get(id) ?? [];
      return [
        [
          id,
          {
            invocation,
            targets: of(targets),
            testResults: of(testResults),
            testSummaries: of(testSummaries),
            said: Object.fromEntries(
              saidTables.map((table) => [table, said.get(table)?.get(id) ?? []]),
            ) as unknown as StoredSaid,
          },
        ],
      ];
    }),
  );
}
