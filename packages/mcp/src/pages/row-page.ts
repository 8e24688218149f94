import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { Clock } from "@millrace/base/clock";
import { errorCode } from "@millrace/base/errors";
import type { Row } from "../store/record.ts";
import { countNewlines } from "./count-lines.ts";
import { CaseFolder } from "./fold-case.ts";
import { asciiLower, type LineFilter } from "./match.ts";

const chunkBytes = 1 << 20;
const smallChunkBytes = 64 << 10;
/** Longer lines are cut in what is shown. */
export const rowBytesMax = 4096;

/** Where a walk through a file's lines stands. */
export interface RowPosition {
  readonly offset: number;
  /** Lines before `offset`. */
  readonly ordinal: number;
  /** Matches given out so far. */
  readonly matched: number;
}

export const fileStart: RowPosition = { offset: 0, ordinal: 0, matched: 0 };

export interface RowPage {
  readonly rows: readonly Row[];
  /** Undefined at the end of the file. */
  readonly next: RowPosition | undefined;
  /** Where the walk stands after each row, for pages that are cut shorter. */
  readonly after: readonly RowPosition[];
}

export interface RowQuery {
  readonly path: string;
  readonly from: RowPosition;
  readonly limit: number;
  readonly filter?: LineFilter | undefined;
  readonly redact: (line: string) => string;
  /** A filtered walk stops here and goes on with the next call: a late match needs few calls, never one long one. */
  readonly timeBudgetMs: number;
  readonly clock: Clock;
}

/** Lines of the file, `undefined` when there is none. The last line counts without a newline too. */
export function countRows(path: string): number | undefined {
  return withFile(path, (fd) => {
    let count = 0;
    let position = 0;
    let lastByte = 0x0a;
    for (;;) {
      const read = readSync(fd, shared, 0, chunkBytes, position);
      if (read === 0) return lastByte === 0x0a ? count : count + 1;
      count += countNewlines(shared, 0, read);
      lastByte = shared[read - 1] as number;
      position += read;
    }
  });
}

// Reading is synchronous, so one buffer serves all pages.
const shared = Buffer.alloc(chunkBytes + rowBytesMax * 4);
const folder = new CaseFolder(shared.length);

/** The next page of lines, redacted; a filter sees redacted lines only. */
export function readRows(query: RowQuery): RowPage {
  const page = withFile(query.path, (fd) =>
    query.filter === undefined
      ? walkLines(fd, query)
      : query.filter.needle === undefined
        ? walkLines(fd, query)
        : searchLines(fd, { query, needle: query.filter.needle }),
  );
  return page ?? { rows: [], next: undefined, after: [] };
}

function withFile<T>(path: string, use: (fd: number) => T): T | undefined {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}

interface Gathered {
  readonly rows: Row[];
  readonly after: RowPosition[];
}

function give(into: Gathered, at: { line: Buffer; query: RowQuery; ordinal: number; end: number }): void {
  const text = at.query.redact(at.line.toString("utf8", 0, Math.min(at.line.length, rowBytesMax)));
  if (at.query.filter !== undefined && !at.query.filter.matches(text)) return;
  into.rows.push({ ordinal: at.ordinal, value: text });
  const matched = (into.after.at(-1)?.matched ?? at.query.from.matched) + 1;
  into.after.push({ offset: at.end, ordinal: at.ordinal + 1, matched });
}

/** Every line in turn. */
function walkLines(fd: number, query: RowQuery): RowPage {
  const size = fstatSync(fd).size;
  const deadline = query.clock.monotonic() + query.timeBudgetMs;
  const into: Gathered = { rows: [], after: [] };
  const step = query.filter === undefined ? smallChunkBytes : chunkBytes;
  let { offset, ordinal } = query.from;
  while (offset < size) {
    const read = readSync(fd, shared, 0, step, offset);
    let lineStart = 0;
    while (lineStart < read) {
      const found = shared.indexOf(0x0a, lineStart);
      const isWhole = found !== -1 && found < read;
      // A line longer than a chunk is shown cut and passed over.
      if (!isWhole && offset + read < size && lineStart > 0) break;
      const end = isWhole ? found : read;
      const next = isWhole ? end + 1 : endOfLongLine(fd, { size, from: offset + end }) - offset;
      give(into, { line: shared.subarray(lineStart, end), query, ordinal, end: offset + next });
      ordinal += 1;
      lineStart = next;
      if (into.rows.length === query.limit) return cut(into, { offset: offset + next, ordinal, size, query });
      if (!isWhole) break;
    }
    offset += lineStart;
    if (query.filter !== undefined && query.clock.monotonic() > deadline && offset < size) {
      return cut(into, { offset, ordinal, size, query });
    }
  }
  return { ...into, next: undefined };
}

function cut(
  into: Gathered,
  at: { offset: number; ordinal: number; size: number; query: RowQuery },
): RowPage {
  const matched = into.after.at(-1)?.matched ?? at.query.from.matched;
  const { offset, ordinal } = at;
  return { ...into, next: offset >= at.size ? undefined : { offset, ordinal, matched } };
}

function endOfLongLine(fd: number, at: { size: number; from: number }): number {
  const chunk = Buffer.alloc(smallChunkBytes);
  for (let position = at.from; position < at.size; ) {
    const read = readSync(fd, chunk, 0, smallChunkBytes, position);
    const found = chunk.subarray(0, read).indexOf(0x0a);
    if (found !== -1) return position + found + 1;
    position += read;
  }
  return at.size;
}

/** Searches bytes for the needle and looks at the lines around its finds only. */
function searchLines(
  fd: number,
  at: { query: RowQuery; needle: { text: string; ignoreCase: boolean } },
): RowPage {
  const { query, needle } = at;
  const size = fstatSync(fd).size;
  const deadline = query.clock.monotonic() + query.timeBudgetMs;
  const into: Gathered = { rows: [], after: [] };
  let { offset, ordinal } = query.from;
  while (offset < size) {
    const read = readSync(fd, shared, 0, chunkBytes, offset);
    const isLast = offset + read >= size;
    const lastNewline = shared.lastIndexOf(0x0a, read - 1);
    const whole = isLast ? read : lastNewline + 1;
    if (whole === 0) {
      // One line longer than a chunk: shown cut if it matches, passed over otherwise.
      const end = endOfLongLine(fd, { size, from: offset + read });
      give(into, { line: shared.subarray(0, read), query, ordinal, end });
      offset = end;
      ordinal += 1;
    } else {
      const reached = searchChunk(into, { chunk: shared.subarray(0, whole), query, needle, offset, ordinal });
      offset += reached.bytes;
      ordinal = reached.ordinal;
    }
    if (into.rows.length === query.limit) return cut(into, { offset, ordinal, size, query });
    if (query.clock.monotonic() > deadline && offset < size) {
      return cut(into, { offset, ordinal, size, query });
    }
  }
  return { ...into, next: undefined };
}

interface Chunk {
  readonly chunk: Buffer;
  readonly query: RowQuery;
  readonly needle: { readonly text: string; readonly ignoreCase: boolean };
  readonly offset: number;
  readonly ordinal: number;
}

/** Whole lines only. Returns how far it came: all of the chunk, or behind the line that filled the page. */
function searchChunk(into: Gathered, at: Chunk): { bytes: number; ordinal: number } {
  const { chunk, query } = at;
  const find = finder(chunk, at.needle);
  let counted = 0;
  let ordinal = at.ordinal;
  for (let found = find(0); found !== -1; ) {
    const lineStart = chunk.lastIndexOf(0x0a, found) + 1;
    const newline = chunk.indexOf(0x0a, found);
    const lineEnd = newline === -1 ? chunk.length : newline;
    const next = newline === -1 ? chunk.length : newline + 1;
    ordinal += countNewlines(chunk, counted, lineStart);
    give(into, { line: chunk.subarray(lineStart, lineEnd), query, ordinal, end: at.offset + next });
    ordinal += 1;
    counted = next;
    if (into.rows.length === query.limit) return { bytes: next, ordinal };
    found = next >= chunk.length ? -1 : find(next);
  }
  return { bytes: chunk.length, ordinal: ordinal + countNewlines(chunk, counted, chunk.length) };
}

/** Finds the needle at or after a place; without regard to the case of ASCII letters in a copy that is lowered once. */
function finder(chunk: Buffer, needle: Chunk["needle"]): (from: number) => number {
  if (!needle.ignoreCase) {
    const exact = Buffer.from(needle.text);
    return (from) => chunk.indexOf(exact, from);
  }
  const wanted = Buffer.from(asciiLower(needle.text));
  const lowered = folder.fold(chunk);
  return (from) => lowered.indexOf(wanted, from);
}
