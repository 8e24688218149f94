import { RE2JS } from "re2js";
import { foldAscii, type Query, type Range, type Test, type TextMatch } from "./query.ts";

/** What a query can be asked about. A field that is left out has no value. */
export interface QueryRecord {
  /** Values of texts and choices; several where a field holds a list. Empty texts count as none. */
  readonly texts: Readonly<Record<string, readonly (string | null)[] | undefined>>;
  /** Numbers, durations in ms, times in ms of the epoch. */
  readonly numbers: Readonly<Record<string, number | null | undefined>>;
  /** Where free words are looked for. */
  readonly free: readonly (string | null)[];
}

/** Tells whether a record fulfils the query at the moment `nowMs`. */
export type Matcher = (record: QueryRecord, nowMs: number) => boolean;

/**
 * The query as a function. It agrees with the statement that the API compiles from the same query, which a property test
 * holds it to; regular expressions run in time linear in the text.
 */
export function matcherOf(query: Query): Matcher {
  if (query.kind === "test") {
    const holds = testMatcher(query.test);
    return query.negated ? (record, now) => !holds(record, now) : holds;
  }
  const parts = query.of.map(matcherOf);
  if (query.kind === "all") return (record, now) => parts.every((part) => part(record, now));
  return (record, now) => parts.some((part) => part(record, now));
}

function testMatcher(test: Test): Matcher {
  switch (test.kind) {
    case "words":
      return (record) => record.free.some((text) => text !== null && foldAscii(text).includes(test.text));
    case "has":
      return (record) =>
        textsOf(record, test.field).length > 0 || typeof record.numbers[test.field] === "number";
    case "choice":
      return (record) => textsOf(record, test.field).some((text) => test.values.includes(text));
    case "text": {
      const matches = test.matches.map(textMatcher);
      return (record) => textsOf(record, test.field).some((text) => matches.some((match) => match(text)));
    }
    case "range":
      return (record, now) => {
        const value = record.numbers[test.field];
        if (typeof value !== "number") return false;
        const compared = test.type === "age" ? now - value : value;
        return test.ranges.some((range) => isWithin(compared, range));
      };
  }
}

function textsOf(record: QueryRecord, field: string): string[] {
  return (record.texts[field] ?? []).filter((text) => text !== null && text !== "") as string[];
}

function isWithin(value: number, range: Range): boolean {
  return (range.from === undefined || value >= range.from) && (range.to === undefined || value < range.to);
}

function textMatcher(match: TextMatch): (text: string) => boolean {
  if (match.kind === "equal") return (text) => text === match.text;
  if (match.kind === "glob") return (text) => fitsGlob(text, match.parts);
  const regex = RE2JS.compile(match.source, RE2JS.DOTALL);
  return (text) => regex.matcher(text).find();
}

/** The first part begins the text, the last one ends it, the others follow in order without overlap. */
function fitsGlob(text: string, parts: readonly string[]): boolean {
  const first = parts[0] ?? "";
  const last = parts.at(-1) ?? "";
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
