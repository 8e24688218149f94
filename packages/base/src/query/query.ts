/** What a field of a record holds, and so which tests it takes. Durations are milliseconds, times milliseconds of the epoch. */
export type FieldKind = "text" | "choice" | "number" | "duration" | "time";

/** A field that queries may name. */
export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  /** One sentence for people and for completion. */
  readonly about: string;
  readonly example: string;
  /** All values of a `choice`. */
  readonly choices?: readonly string[];
  /** A plain value stands for everything that begins with it, as a commit's first digits do. */
  readonly byPrefix?: boolean;
}

/** A query whose negations stand at its tests only. `all` of nothing is true. */
export type Query =
  | { readonly kind: "all" | "any"; readonly of: readonly Query[] }
  | { readonly kind: "test"; readonly negated: boolean; readonly test: Test };

/** One claim about a record. A field without a value fulfils none of them; so its negation holds. */
export type Test =
  | { readonly kind: "text"; readonly field: string; readonly matches: readonly TextMatch[] }
  | { readonly kind: "choice"; readonly field: string; readonly values: readonly string[] }
  | {
      readonly kind: "range";
      readonly field: string;
      readonly type: RangeType;
      readonly ranges: readonly Range[];
    }
  | { readonly kind: "has"; readonly field: string }
  | { readonly kind: "words"; readonly text: string };

export type RangeType = "number" | "time" | "age";

/** Integers from `from` on and below `to`. Of an `age` they are milliseconds before the moment of asking. */
export interface Range {
  readonly from?: number;
  readonly to?: number;
}

export type TextMatch =
  | { readonly kind: "equal"; readonly text: string }
  /** These parts in order, anything between them. */
  | { readonly kind: "glob"; readonly parts: readonly string[] }
  /** A pattern of `portable-regex.ts`. */
  | { readonly kind: "regex"; readonly source: string };

/** Why a text is no query; `from` and `to` are UTF-16 offsets into it. */
export interface QueryFault {
  readonly message: string;
  readonly from: number;
  readonly to: number;
}

/** Carries a fault out of the parser; caught by `parseQuery`. */
export class FaultFound extends Error {
  readonly fault: QueryFault;
  constructor(message: string, at: { from: number; to: number }) {
    super(message);
    // At the end of the text too there is something to underline.
    this.fault = { message, from: at.from, to: Math.max(at.to, at.from + 1) };
  }
}

/** ASCII letters only: a database in any locale folds them the same. */
export function foldAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
