import { type AnyColumn, and, type SQL, sql } from "drizzle-orm";

export interface LabelFilter {
  /** Exactly these. */
  readonly labels?: readonly string[] | undefined;
  /** A part of the label, whatever its case. */
  readonly contains?: string | undefined;
}

export function labelFilter(column: AnyColumn, filter: LabelFilter): SQL | undefined {
  return and(
    filter.labels === undefined ? undefined : sql`${column} = any(${sql.param([...filter.labels])}::text[])`,
    filter.contains === undefined ? undefined : sql`${column} ilike ${`%${escapeLike(filter.contains)}%`}`,
  );
}

/** The text as a LIKE pattern that means just it. */
export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, (character) => `\\${character}`);
}
