import { byteOf, has, inValue, isBlank, isDigit, latin1, runEnd } from "../bytes.ts";
import type { TextScan } from "../text-scan.ts";

/** A quote and how many backslashes stand before it: JSON within JSON has one, a level deeper three. */
export interface Quote {
  readonly quote: number;
  readonly depth: number;
  /** Where the quoted text begins. */
  readonly behind: number;
}

const backslashesMax = 7;
const lookBehindMax = 96;
const blanksMax = 4;

/** The quote that stands at `at`, backslashes first. */
export function openingQuote(scan: TextScan, at: number): Quote | undefined {
  let index = at;
  while (index < scan.to && index - at < backslashesMax && scan.bytes[index] === byteOf.backslash) index += 1;
  const byte = scan.bytes[index];
  if (index >= scan.to || !isQuote(byte)) return undefined;
  return { quote: byte as number, depth: index - at, behind: index + 1 };
}

/** The text ends in backslashes at `at`, and a quote may follow. */
export function awaitsQuote(scan: TextScan, at: number): boolean {
  if (!scan.goesOn) return false;
  let index = at;
  while (index < scan.to && index - at < backslashesMax && scan.bytes[index] === byteOf.backslash) index += 1;
  return index > at && index === scan.to;
}

/** The quote that opens the word in which `at` lies, if it begins with one: `'--flag=NAME=…`. */
export function enclosingQuote(scan: TextScan, at: number): Quote | undefined {
  const limit = Math.max(scan.from, at - lookBehindMax);
  let index = at;
  while (index > limit && has(scan.bytes[index - 1], inValue)) index -= 1;
  const byte = scan.bytes[index - 1];
  if (index === limit || !isQuote(byte)) return undefined;
  let depth = 0;
  while (index - 2 - depth >= scan.from && scan.bytes[index - 2 - depth] === byteOf.backslash) depth += 1;
  return { quote: byte as number, depth, behind: index };
}

/** Behind at most a few spaces and tabs. */
export function passBlanks(scan: TextScan, at: number): number {
  return runEnd(scan.bytes, { from: at, to: Math.min(scan.to, at + blanksMax), bits: isBlank });
}

/** Behind the `%22` or `%27` at `at`, if it is one: a quote in a URL. */
export function passEncodedQuote(scan: TextScan, at: number): number {
  if (scan.bytes[at] !== byteOf.percent || at + 3 > scan.to || scan.bytes[at + 1] !== digitTwo) return at;
  return scan.bytes[at + 2] === digitTwo || scan.bytes[at + 2] === digitSeven ? at + 3 : at;
}

const digitTwo = 0x32;
const digitSeven = 0x37;

/** Behind the colour codes (`ESC[31m`, in JSON `\\u001b[31m`) at `at`, if any. */
export function passColour(scan: TextScan, at: number): number {
  let index = at;
  for (;;) {
    const bracket = behindEscape(scan, index);
    if (bracket < 0 || scan.bytes[bracket] !== byteOf.leftBracket) return index;
    let end = bracket + 1;
    while (end < scan.to && (has(scan.bytes[end], isDigit) || scan.bytes[end] === byteOf.semicolon)) end += 1;
    if (end >= scan.to) return scan.to;
    index = end + 1;
  }
}

const escapeCodes = ["u001b", "x1b", "033", "e"];

/** Behind an escape character, as it is or written out; -1 when there is none. */
function behindEscape({ bytes, to }: TextScan, at: number): number {
  if (bytes[at] === byteOf.escape) return at + 1;
  if (bytes[at] !== byteOf.backslash) return -1;
  let from = at;
  while (from < to && from - at < backslashesMax && bytes[from] === byteOf.backslash) from += 1;
  const text = latin1(bytes, from, Math.min(to, from + 5)).toLowerCase();
  const code = escapeCodes.find((known) => text.startsWith(known));
  return code === undefined ? -1 : from + code.length;
}

function isQuote(byte: number | undefined): boolean {
  return byte === byteOf.doubleQuote || byte === byteOf.singleQuote;
}
