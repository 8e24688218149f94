import type {
  IActionCountRow,
  IActionRow,
  IConfigurationRow,
  IDetailsRow,
  IFetchRow,
  IMetricsRow,
  IProblemRow,
  IRows,
  ITestProgressRow,
  IUnknownRow,
} from "@millrace/proto/pipeline";
import { mergePatches } from "./merge-rows.ts";

/** Rows of what is neither target nor test, by the field of `Rows` that carries them. */
export interface DerivedRows {
  readonly actions: IActionRow;
  readonly actionCounts: IActionCountRow;
  readonly configurations: IConfigurationRow;
  readonly metrics: IMetricsRow;
  readonly details: IDetailsRow;
  readonly problems: IProblemRow;
  readonly fetches: IFetchRow;
  readonly testProgress: ITestProgressRow;
  readonly unknowns: IUnknownRow;
}

export type DerivedTable = keyof DerivedRows;

/** Which rows of an attempt are one, and what becomes of them: the later into the earlier, as its statement does. */
export interface RowLaw<R> {
  key(row: R): string;
  merge(earlier: R, later: R): R;
}

/** An event has its own row; the fence lets it in once. */
function byEvent<R extends { sequence?: number | null }>(): RowLaw<R> {
  return { key: (row) => String(row.sequence ?? 0), merge: (_, later) => later };
}

/** One row an attempt. */
function patched<R extends object>(): RowLaw<R> {
  return { key: () => "", merge: mergePatches };
}

/** In the order in which they are written. */
export const derivedLaws: { readonly [T in DerivedTable]: RowLaw<DerivedRows[T]> } = {
  actions: byEvent(),
  actionCounts: {
    key: (row) => row.mnemonic ?? "",
    merge: (a, b) => ({
      mnemonic: a.mnemonic ?? "",
      succeeded: (a.succeeded ?? 0) + (b.succeeded ?? 0),
      failed: (a.failed ?? 0) + (b.failed ?? 0),
      durationMs: (a.durationMs ?? 0) + (b.durationMs ?? 0),
    }),
  },
  configurations: { key: (row) => row.id ?? "", merge: mergePatches },
  metrics: patched(),
  details: patched(),
  problems: byEvent(),
  fetches: byEvent(),
  testProgress: {
    key: (row) =>
      [row.label, row.configuration, row.run ?? 0, row.shard ?? 0, row.attempt ?? 0].join("\u0000"),
    merge: (a, b) => ((b.opaqueCount ?? 0) >= (a.opaqueCount ?? 0) ? b : a),
  },
  unknowns: {
    key: (row) => row.what ?? "",
    merge: (a, b) => ({ what: a.what ?? "", events: (a.events ?? 0) + (b.events ?? 0) }),
  },
};

export const derivedTables = Object.keys(derivedLaws) as DerivedTable[];

/** The rows for one table that a batch carries. */
export function rowsFor<T extends DerivedTable>(table: T, rows: IRows | null | undefined): DerivedRows[T][] {
  const carried = rows?.[table] as DerivedRows[T] | DerivedRows[T][] | null | undefined;
  if (carried === null || carried === undefined) return [];
  return Array.isArray(carried) ? carried : [carried];
}
