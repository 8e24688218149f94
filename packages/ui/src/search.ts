import type { BuildStatus } from "@millrace/client/client";
import { buildLooks } from "./status/status.ts";

/** What the address of the list says. Lists are words with commas between them. */
export interface BuildsSearch {
  readonly status?: string | undefined;
  readonly command?: string | undefined;
  readonly user?: string | undefined;
}

/** What the address of a build says. */
export interface BuildSearch {
  /** The latest when left out. */
  readonly attempt?: number | undefined;
  /** Filter of the table. */
  readonly q?: string | undefined;
  readonly status?: string | undefined;
  /** The row whose details are open. */
  readonly row?: string | undefined;
  /** Line of the log, from 1. */
  readonly line?: number | undefined;
}

export function readBuildsSearch(search: Record<string, unknown>): BuildsSearch {
  return defined({ status: text(search.status), command: text(search.command), user: text(search.user) });
}

export function readBuildSearch(search: Record<string, unknown>): BuildSearch {
  return defined({
    attempt: positive(search.attempt),
    q: text(search.q),
    status: text(search.status),
    row: text(search.row),
    line: positive(search.line),
  });
}

/** The words of a list; undefined when there are none, for then nothing is restricted. */
export function wordsOf(list: string | undefined): string[] | undefined {
  const words = (list ?? "").split(",").filter((word) => word !== "");
  return words.length === 0 ? undefined : words;
}

/** Statuses in an address that there are; others are passed over. */
export function statusesOf(list: string | undefined): BuildStatus[] | undefined {
  const known = wordsOf(list)?.filter((word): word is BuildStatus => word in buildLooks);
  return known === undefined || known.length === 0 ? undefined : known;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function positive(value: unknown): number | undefined {
  const number = Number(value);
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function defined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>;
}
