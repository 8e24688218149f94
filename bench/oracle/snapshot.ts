import { connect } from "@millrace/db/connect";

export type Row = Readonly<Record<string, unknown>>;

/** Reads of one moment: whatever is committed meanwhile is not seen. */
export interface Snapshot {
  rows(text: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /** The rows of a statement, so many at a time. No other statement may be run until it is over. */
  pages(text: string, parameters: readonly unknown[], rowsAtOnce: number): AsyncIterable<Row[]>;
}

/** Runs `read` in one read-only transaction. */
export async function inSnapshot<T>(
  databaseUrl: string,
  read: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  const database = connect({ url: databaseUrl, max: 1, name: "bench-oracle" });
  try {
    // postgres.js gives what the callback answers, though its type unwraps arrays of queries.
    return (await database.sql.begin("isolation level repeatable read read only", async (sql) =>
      read({
        rows: async (text, parameters = []) => [...(await sql.unsafe(text, parameters as never[]))],
        pages: (text, parameters, rowsAtOnce) => sql.unsafe(text, parameters as never[]).cursor(rowsAtOnce),
      }),
    )) as T;
  } finally {
    await database.close();
  }
}

/** An array of numbers as PostgreSQL reads it. */
export function idsLiteral(ids: readonly number[]): string {
  return `{${ids.join()}}`;
}
