import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { createFilter } from "../pages/match.ts";
import { cursorContext, decodeCursor, encodeCursor } from "../store/cursor.ts";
import { badCursor } from "./list-page.ts";
import type { Page, PageRequest } from "./page.ts";

interface LogRow {
  readonly label: string;
  readonly text: string;
}

/**
 * Lines of failed tests' logs. A filter on the label gives all of that test's lines; a filter on the text gives each match
 * with its neighbours of the same test, because the cause tends to stand one line beside the word that was looked for.
 */
export async function testLogPage(at: { path: string; request: PageRequest; id: string }): Promise<Page> {
  const { request } = at;
  const context = cursorContext(["test_log", at.id, request.filter ?? "", String(request.caseSensitive)]);
  const start = request.cursor === undefined ? 0 : startOf(request.cursor, context);
  const rows = await readAll(at.path);
  const wanted = selectRows(rows, request);
  const rest = wanted.filter((ordinal) => ordinal >= start);
  const page = rest.slice(0, request.limit);
  let label = "";
  const items = page.map((ordinal) => {
    const row = rows[ordinal];
    const text = row?.text ?? "";
    const head = row !== undefined && row.label !== label ? `[${row.label}] ` : "";
    label = row?.label ?? "";
    return `${head}${text}`;
  });
  return {
    items,
    totalCount: rows.length,
    filteredCount: request.filter === undefined ? null : wanted.length,
    cursorAfter: (count) => {
      const next = rest[count];
      return next === undefined ? undefined : encodeCursor("ordinal", { context, numbers: [next] });
    },
  };
}

function startOf(cursor: string, context: Buffer): number {
  const decoded = decodeCursor("ordinal", { context, text: cursor, count: 1 });
  if (decoded === undefined) throw badCursor();
  return decoded[0] ?? 0;
}

/** Rows are at most 16 MiB (see `TestLogs`), written by us. */
async function readAll(path: string): Promise<LogRow[]> {
  const rows: LogRow[] = [];
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  for await (const line of lines) rows.push(JSON.parse(line) as LogRow);
  return rows;
}

function selectRows(rows: readonly LogRow[], request: PageRequest): number[] {
  const all = rows.map((_, ordinal) => ordinal);
  if (request.filter === undefined) return all;
  const filter = createFilter(request.filter, { caseSensitive: request.caseSensitive });
  const byLabel = all.filter((ordinal) => filter.matches(rows[ordinal]?.label ?? ""));
  if (byLabel.length > 0) return byLabel;
  const chosen = new Set<number>();
  for (const ordinal of all) {
    const row = rows[ordinal];
    if (row === undefined || !filter.matches(row.text)) continue;
    for (const near of [ordinal - 1, ordinal, ordinal + 1]) {
      if (rows[near]?.label === row.label) chosen.add(near);
    }
  }
  return [...chosen].sort((a, b) => a - b);
}
