import type { Clock } from "@millrace/base/clock";
import { isNoise, plainLine } from "../diagnose/noise.ts";
import { createFilter, type LineFilter } from "../pages/match.ts";
import { fileStart, type RowPosition, readRows } from "../pages/row-page.ts";
import type { Redactor } from "../redact/redactor.ts";
import { cursorContext, decodeCursor, encodeCursor } from "../store/cursor.ts";
import { badCursor } from "./list-page.ts";
import type { Page, PageRequest } from "./page.ts";

const timeBudgetMs = 250;

export interface FilePageRequest {
  readonly path: string;
  readonly request: PageRequest;
  readonly scope: string;
  readonly id: string;
  readonly redactor: Redactor;
  readonly clock: Clock;
  /** `log` leaves out lines that never tell anything; `rows` gives every line with its number. */
  readonly kind: "rows" | "log";
  readonly totalCount: number | null;
}

/** A page of a file's lines, by byte offsets: the thousandth page costs as much as the first. */
export function filePage(at: FilePageRequest): Page {
  const { request } = at;
  const context = cursorContext([
    ...[at.scope, at.id, request.filter ?? "", String(request.caseSensitive)],
    request.stream ?? "",
  ]);
  const from = request.cursor === undefined ? fileStart : positionOf(request.cursor, context);
  const page = readRows({
    path: at.path,
    from,
    limit: request.limit,
    filter: filterOf(at),
    redact: (line) => at.redactor.text(at.kind === "log" ? plainLine(line) : line),
    timeBudgetMs,
    clock: at.clock,
  });
  const cursor = (position: RowPosition): string => {
    const { offset, ordinal, matched } = position;
    return encodeCursor("bytes", { context, numbers: [offset, ordinal, matched] });
  };
  const isEnd = page.next === undefined;
  return {
    items: page.rows.map((row) => (at.kind === "rows" ? { ...row } : row.value)),
    totalCount: at.totalCount,
    filteredCount:
      request.filter !== undefined && isEnd ? (page.after.at(-1)?.matched ?? from.matched) : null,
    isPartial: !isEnd && page.rows.length < request.limit,
    cursorAfter: (count) => {
      if (count >= page.rows.length) return page.next === undefined ? undefined : cursor(page.next);
      return cursor(count === 0 ? from : (page.after[count - 1] ?? from));
    },
  };
}

function filterOf(at: FilePageRequest): LineFilter | undefined {
  const { filter, caseSensitive } = at.request;
  const wanted = filter === undefined ? undefined : createFilter(filter, { caseSensitive });
  if (at.kind === "rows") return wanted;
  return {
    needle: wanted?.needle,
    matches: (line) => !isNoise(line) && (wanted === undefined || wanted.matches(line)),
  };
}

function positionOf(cursor: string, context: Buffer): RowPosition {
  const decoded = decodeCursor("bytes", { context, text: cursor, count: 3 });
  if (decoded === undefined) throw badCursor();
  const [offset = 0, ordinal = 0, matched = 0] = decoded;
  return { offset, ordinal, matched };
}
