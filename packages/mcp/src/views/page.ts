import type { Json } from "../answer/encode.ts";

/** What one inspection asks for. */
export interface PageRequest {
  readonly limit: number;
  readonly filter: string | undefined;
  readonly caseSensitive: boolean;
  readonly cursor: string | undefined;
  readonly stream: "stdout" | "stderr" | undefined;
}

/** A page before it is fitted into its budget. `cursorAfter(n)` is where to go on after `n` items. */
export interface Page {
  readonly items: readonly Json[];
  readonly totalCount: number | null;
  readonly filteredCount: number | null;
  /** Undefined at the end. */
  cursorAfter(count: number): string | undefined;
  /** A filtered walk stopped before its end without filling the page. */
  readonly isPartial?: boolean;
}
