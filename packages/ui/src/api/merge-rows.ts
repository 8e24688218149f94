import type { Page, RowFilter } from "./queries.ts";

/** How rows of a table are told apart, ordered and filtered. */
export interface RowKind<T> {
  /** Label, aspect, configuration …: what the server orders by. */
  place(row: T): readonly string[];
  status(row: T): string;
  label(row: T): string;
}

/**
 * The loaded pages after some rows changed: they are replaced where they are, taken out when they do not fit the filter any more,
 * put in at their place when that is loaded.
 */
export function mergeRows<T>(
  pages: readonly Page<T>[],
  rows: readonly T[],
  of: { kind: RowKind<T>; filter: RowFilter },
): Page<T>[] {
  const changed = new Map(rows.map((row) => [of.kind.place(row).join("\n"), row]));
  const kept = pages.map((page) => ({
    ...page,
    rows: page.rows.filter((row) => !changed.has(of.kind.place(row).join("\n"))),
  }));
  const fitting = rows.filter((row) => fitsRow(row, of));
  return fitting.reduce((into, row) => insertRow(into, row, of.kind), kept);
}

/** The server's filter, on one row. */
function fitsRow<T>(row: T, of: { kind: RowKind<T>; filter: RowFilter }): boolean {
  const { status, contains } = of.filter;
  if (status !== undefined && status.length > 0 && !status.includes(of.kind.status(row))) return false;
  return contains === undefined || of.kind.label(row).toLowerCase().includes(contains.toLowerCase());
}

function insertRow<T>(pages: Page<T>[], row: T, kind: RowKind<T>): Page<T>[] {
  const place = kind.place(row);
  const index = pages.findIndex((page, at) => {
    const last = page.rows.at(-1);
    if (at === pages.length - 1 && page.nextCursor === null) return true;
    return last !== undefined && isBefore(place, kind.place(last));
  });
  const page = pages[index];
  if (page === undefined) return pages;
  const at = page.rows.findIndex((other) => isBefore(place, kind.place(other)));
  const rows = [...page.rows];
  rows.splice(at === -1 ? rows.length : at, 0, row);
  return pages.map((other) => (other === page ? { ...page, rows } : other));
}

function isBefore(a: readonly string[], b: readonly string[]): boolean {
  for (const [at, word] of a.entries()) {
    const other = b[at] ?? "";
    if (word !== other) return word < other;
  }
  return false;
}
