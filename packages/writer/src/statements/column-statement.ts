import type { Executor } from "@millrace/db/connect";

/** What may stand in a column: postgres.js guesses the types of other values, differently for each list. */
export type Value = string | number | null | undefined;

/**
 * A statement of fixed text that takes many rows as one array a column (`unnest`), so that its plan is made once
 * a connection: VALUES lists cost three to ten times as much.
 */
export interface ColumnStatement<R> {
  /** `$1`, `$2`, … are arrays, in the order of `columns`. */
  readonly text: string;
  columns(row: R): readonly Value[];
}

/** A row of an answer; each statement knows its own columns. */
export type AnswerRow = Readonly<Record<string, unknown>>;

/** Runs a statement as a named prepared one. It is sent when called, not when awaited. */
export async function runColumns<R>(
  executor: Executor,
  statement: ColumnStatement<R>,
  rows: readonly R[],
): Promise<AnswerRow[]> {
  return await executor.unsafe(statement.text, transpose(rows, statement), { prepare: true }).execute();
}

function transpose<R>(rows: readonly R[], statement: ColumnStatement<R>): (string | number | null)[][] {
  const columns: (string | number | null)[][] = [];
  for (const row of rows) {
    statement.columns(row).forEach((value, index) => {
      const column = columns[index];
      const cell = typeof value === "string" ? storable(value) : (value ?? null);
      if (column === undefined) columns[index] = [cell];
      else column.push(cell);
    });
  }
  return columns;
}

/** PostgreSQL's text cannot hold NUL. It is shown as U+FFFD; the raw event keeps what was sent. */
export function storable(text: string): string {
  return text.includes("\u0000") ? text.replaceAll("\u0000", "\ufffd") : text;
}

/** JSON that jsonb accepts: no NUL, no lone surrogate. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "string" ? storable(part).toWellFormed() : part,
  );
}

/** A list as a text[] literal, or null when it is empty: arrays of unequal length do not fit an array. */
export function arrayLiteral(list: readonly string[] | null | undefined): string | null {
  if (!list || list.length === 0) return null;
  return `{${list.map((text) => `"${text.replace(/[\\"]/g, "\\$&")}"`).join(",")}}`;
}

/** Bytes as hex, for `decode(…, 'hex')`. */
export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}
