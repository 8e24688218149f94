import { redacted } from "../redact/redactor.ts";

/** What lines are looked for. */
export interface LineFilter {
  /** True for a line, already redacted, that is wanted. */
  matches(line: string): boolean;
  /** Bytes that every wanted line holds before redaction, for a quick search; undefined: look at every line. */
  readonly needle: Needle | undefined;
}

export interface Needle {
  readonly text: string;
  readonly ignoreCase: boolean;
}

/**
 * A filter is a literal, ASCII case-insensitive substring, unless it has `*` or is a label pattern (`//pkg/...`,
 * `//pkg:all`): then it is a glob over the whole line, where `*` does not cross `/` or `:` and `...` crosses all.
 */
export function createFilter(filter: string, options: { caseSensitive: boolean }): LineFilter {
  const ignoreCase = !options.caseSensitive;
  if (isGlob(filter)) {
    const pattern = new RegExp(`^${globSource(filter)}$`, ignoreCase ? "i" : "");
    return { matches: (line) => pattern.test(line), needle: needleOf(longestLiteral(filter), ignoreCase) };
  }
  const wanted = ignoreCase ? asciiLower(filter) : filter;
  return {
    matches: (line) => (ignoreCase ? asciiLower(line) : line).includes(wanted),
    needle: needleOf(filter, ignoreCase),
  };
}

function isGlob(filter: string): boolean {
  return filter.includes("*") || /^(@[^/]*)?\/\/.*(\/\.\.\.|:all(-targets)?)$|^\/\/\.\.\.$/.test(filter);
}

function globSource(filter: string): string {
  const base = filter.replace(/:(all|all-targets|\*)$/, ":*");
  const below = /^(.*?)\/?\.\.\.(:\*)?$/.exec(base);
  // `//pkg/...` is the package and all below it; `//...` is everything in the repository.
  if (below) {
    const prefix = escapeGlob(below[1] ?? "");
    return prefix.endsWith("/") ? `${prefix}.*` : `${prefix}(?:[/:].*)?`;
  }
  return escapeGlob(base);
}

function escapeGlob(text: string): string {
  return text
    .split(/(\*\*|\*)/)
    .map((part) =>
      part === "**" ? ".*" : part === "*" ? "[^/:]*" : part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"),
    )
    .join("");
}

function longestLiteral(filter: string): string {
  return filter
    .replace(/:(all|all-targets|\*)$/, "")
    .split(/\*+|\/?\.\.\./)
    .reduce((longest, part) => (part.length > longest.length ? part : longest), "");
}

/** A filter that can match the redaction mark itself must see redacted lines, so it cannot search raw bytes. */
function needleOf(text: string, ignoreCase: boolean): Needle | undefined {
  const canMatchMark = text === "" || /[<>]/.test(text) || redacted.includes(asciiLower(text));
  if (canMatchMark) return undefined;
  if (!ignoreCase || !/[a-z]/i.test(text)) return { text, ignoreCase: false };
  // Digits and signs have no case: a long run of them is searched exactly, at memory speed.
  const runs = text.split(/[a-zA-Z]+/).sort((a, b) => b.length - a.length);
  const [longest = ""] = runs;
  return longest.length >= caselessRunMin ? { text: longest, ignoreCase: false } : { text, ignoreCase: true };
}

const caselessRunMin = 4;

export function asciiLower(text: string): string {
  return text.replace(/[A-Z]+/g, (upper) => upper.toLowerCase());
}
