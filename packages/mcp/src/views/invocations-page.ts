import type { Json } from "../answer/encode.ts";
import { cutText } from "../answer/pack.ts";
import { createFilter } from "../pages/match.ts";
import { cursorContext, decodeCursor, encodeCursor } from "../store/cursor.ts";
import type { Invocation } from "../store/record.ts";
import type { Entry } from "../store/record-index.ts";
import type { Store } from "../store/store.ts";
import { isUuid, uuidText, uuidToBytes } from "../store/uuid7.ts";
import { badCursor } from "./list-page.ts";
import type { Page, PageRequest } from "./page.ts";

/** Which invocations are listed, newest first. */
export interface InvocationsQuery {
  readonly workspace: string | undefined;
  readonly state: string | undefined;
  readonly command: string | undefined;
}

const examinedMax = 10_000;

export function invocationsPage(store: Store, at: { request: PageRequest; query: InvocationsQuery }): Page {
  const { request, query } = at;
  const context = cursorContext([
    ...["invocations", query.workspace ?? "", query.state ?? "", query.command ?? ""],
    ...[request.filter ?? "", String(request.caseSensitive)],
  ]);
  const before = request.cursor === undefined ? undefined : idOf(request.cursor, context);
  const filter =
    request.filter === undefined
      ? undefined
      : createFilter(request.filter, { caseSensitive: request.caseSensitive });
  const ids: string[] = [];
  const items: Json[] = [];
  let examined = 0;
  let isEnd = true;
  for (const entry of store.index.newest(before)) {
    if (items.length === request.limit || examined >= examinedMax) {
      isEnd = false;
      break;
    }
    if (!matches(entry, query)) continue;
    examined += filter === undefined ? 0 : 1;
    const item = describe(store, entry);
    if (filter !== undefined && !Object.values(item).some((value) => filter.matches(String(value)))) continue;
    ids.push(entry.id);
    items.push(item);
  }
  return {
    items,
    totalCount: store.index.size,
    filteredCount: null,
    cursorAfter: (count) => {
      const last = ids[count - 1];
      if (last === undefined || (count >= items.length && isEnd)) return undefined;
      return encodeCursor("invocations", { context, numbers: numbersOf(last) });
    },
  };
}

function matches(entry: Entry, query: InvocationsQuery): boolean {
  return (
    (query.workspace === undefined || entry.workspace === query.workspace) &&
    (query.state === undefined || entry.state === query.state) &&
    (query.command === undefined || entry.command === query.command)
  );
}

function describe(store: Store, entry: Entry): { [key: string]: Json } {
  let invocation: Invocation;
  try {
    invocation = store.read(entry.id);
  } catch {
    return {
      invocation_id: entry.id,
      state: "damaged",
      command: entry.command,
      headline: "its record cannot be read",
    };
  }
  const { request, summary } = invocation;
  const args = request.arguments ?? [];
  return {
    invocation_id: request.id,
    state: invocation.state,
    command: request.command,
    arguments: [...(request.target === undefined ? [] : [request.target]), ...args]
      .slice(0, 3)
      .map((argument) => cutText(argument, 128))
      .join(" "),
    workspace: cutText(request.workspace, 256),
    requested_at: new Date(request.requested_at_ms).toISOString(),
    duration_ms: summary?.elapsed_ms ?? 0,
    headline: cutText(summary?.headline ?? "", 256),
  };
}

/** A UUID as four numbers of 32 bits. */
function numbersOf(id: string): number[] {
  const bytes = uuidToBytes(id);
  return [0, 4, 8, 12].map((offset) => bytes.readUInt32BE(offset));
}

function idOf(cursor: string, context: Buffer): string {
  const decoded = decodeCursor("invocations", { context, text: cursor, count: 4 });
  if (decoded === undefined || decoded.some((part) => part > 0xffffffff)) throw badCursor();
  const bytes = Buffer.alloc(16);
  decoded.forEach((part, index) => {
    bytes.writeUInt32BE(part, index * 4);
  });
  const id = uuidText(bytes);
  if (!isUuid(id)) throw badCursor();
  return id;
}
