import type { Json, JsonObject } from "../answer/encode.ts";
import { createFilter } from "../pages/match.ts";
import { refuse } from "../run/policy.ts";
import { cursorContext, decodeCursor, encodeCursor } from "../store/cursor.ts";
import type { Page, PageRequest } from "./page.ts";

/** A page of a list at hand. The filter looks at the item's texts, one by one; a glob must match one of them whole. */
export function listPage(
  items: readonly JsonObject[],
  at: { request: PageRequest; scope: string; id: string },
): Page {
  const { request } = at;
  const context = cursorContext([at.scope, at.id, request.filter ?? "", String(request.caseSensitive)]);
  const start = request.cursor === undefined ? 0 : startOf(request.cursor, context);
  const filter =
    request.filter === undefined
      ? undefined
      : createFilter(request.filter, { caseSensitive: request.caseSensitive });
  const wanted = items
    .map((item, ordinal) => ({ item, ordinal }))
    .filter(({ item }) => filter === undefined || textsOf(item).some((text) => filter.matches(text)));
  const page = wanted.filter(({ ordinal }) => ordinal >= start).slice(0, request.limit);
  const rest = wanted.filter(({ ordinal }) => ordinal >= start).length;
  return {
    items: page.map(({ item }) => item),
    totalCount: items.length,
    filteredCount: filter === undefined ? null : wanted.length,
    cursorAfter: (count) => {
      if (count >= rest) return undefined;
      const next = count === 0 ? start : (page[count - 1]?.ordinal ?? 0) + 1;
      return encodeCursor("ordinal", { context, numbers: [next] });
    },
  };
}

function startOf(cursor: string, context: Buffer): number {
  const decoded = decodeCursor("ordinal", { context, text: cursor, count: 1 });
  if (decoded === undefined) throw badCursor();
  return decoded[0] ?? 0;
}

export function badCursor(): Error {
  return refuse(
    "cursor",
    "cursor belongs to another view, invocation or filter, or is damaged: use the next_cursor of the page before with the same arguments",
  );
}

function textsOf(value: Json | undefined): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return value === undefined ? [] : [String(value)];
  return (Array.isArray(value) ? value : Object.values(value as JsonObject)).flatMap(textsOf);
}
