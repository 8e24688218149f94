import type { DrawnLine } from "./screen.ts";
import type { TextStyle } from "./style-table.ts";

/** What the page says to the worker that holds a log. */
export type LogRequest =
  | { readonly kind: "open"; readonly log: LogName; readonly total: number }
  /** The log is this long now. */
  | { readonly kind: "grow"; readonly total: number }
  /** Asks for lines `[from, to)`; `styles` says how many styles are known already. */
  | { readonly kind: "lines"; readonly from: number; readonly to: number; readonly styles: number };

/** What the worker says to the page. */
export type LogAnswer =
  | { readonly kind: "size"; readonly size: LogSize }
  | {
      readonly kind: "lines";
      readonly from: number;
      readonly lines: DrawnLine[];
      /** Styles from number `stylesFrom` on. */
      readonly stylesFrom: number;
      readonly styles: TextStyle[];
    }
  | { readonly kind: "trouble"; readonly message: string };

export interface LogName {
  readonly project: string;
  readonly invocationId: string;
  readonly attempt: number;
}

export interface LogSize {
  readonly lineCount: number;
  /** Bytes read so far, and bytes there are. */
  readonly bytes: number;
  readonly total: number;
}
