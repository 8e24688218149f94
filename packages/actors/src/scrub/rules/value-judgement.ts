import { has, inWord, isDigit, latin1, runEnd } from "../bytes.ts";
import type { TextScan } from "../text-scan.ts";

/** `unsure`: the text ends before it can be said. */
export type ValueJudgement = "secret" | "harmless" | "unsure";

/** A value this long is a secret, whatever it looks like. */
const sureBytes = 64;
/** In doubtful places a value must look made up: this long, or some bytes with a digit among them. */
const madeUpBytes = 20;
const madeUpWithDigitBytes = 6;
const harmlessDigits = 8;
const phoneDigits = 12;

const harmlessWords = [
  ..."true false yes no on off null none nil undefined unset empty missing required invalid expired".split(
    " ",
  ),
  ..."string str bytes bool boolean int integer number any object array enabled disabled default".split(" "),
  ..."unknown auto always never redacted masked hidden changeme".split(" "),
];

/** Words of an `Authorization` header that stand before the credentials. */
const schemes = ["bearer", "basic", "token", "digest", "negotiate", "apikey", "bot"];

/** A value in the text, up to the first byte that is not in `bits`. */
export interface Value {
  readonly from: number;
  readonly bits: number;
  /** The place is doubtful: `next_token: something` in prose. */
  readonly mustLookMadeUp: boolean;
  /** The quote behind a quoted value: `"true story"` is not the harmless `true`. */
  readonly closing?: number;
}

/** Whether the value that begins at `from`, with at least one byte, is a secret. */
export function judgeValue(scan: TextScan, value: Value): ValueJudgement {
  const limit = Math.min(scan.to, value.from + sureBytes);
  const end = runEnd(scan.bytes, { from: value.from, to: limit, bits: value.bits });
  if (end - value.from >= sureBytes) return "secret";
  const cutOff = end === scan.to && scan.goesOn;
  const text = latin1(scan.bytes, value.from, end);
  if (value.mustLookMadeUp) return judgeMadeUp(text, cutOff);
  if (cutOff) return mayBeHarmless(text) ? "unsure" : "secret";
  if (value.closing !== undefined && scan.bytes[end] !== value.closing && end < scan.to) return "secret";
  return isHarmless(text) ? "harmless" : "secret";
}

/** The value is a scheme such as `Bearer`: the end of it, or -1. */
export function endOfScheme(scan: TextScan, from: number): number {
  const end = runEnd(scan.bytes, { from, to: Math.min(scan.to, from + 10), bits: inWord });
  return end < scan.to && end > from && schemes.includes(latin1(scan.bytes, from, end).toLowerCase())
    ? end
    : -1;
}

function judgeMadeUp(text: string, cutOff: boolean): ValueJudgement {
  if (cutOff && text.length < madeUpBytes) return "unsure";
  if (isPlace(text.slice(0, madeUpBytes))) return "harmless";
  if (text.length >= madeUpBytes) return "secret";
  if (/^[0-9.,:]*$/.test(text) && text.length <= phoneDigits) return "harmless";
  return text.length >= madeUpWithDigitBytes && /[0-9!$%^&*+=~#]/.test(text) ? "secret" : "harmless";
}

/** A path, a label or a URL. A capital letter in it says base64 rather than path. */
function isPlace(text: string): boolean {
  return /^(?:\.{0,2}\/|@)[a-z0-9._/:@-]*$/.test(text) || /^[a-z]{1,15}:\/\//.test(text);
}

function isHarmless(text: string): boolean {
  const word = withoutPunctuation(text);
  if (word === "" || harmlessWords.includes(word.toLowerCase())) return true;
  if (word.length < harmlessDigits && isNumber(word)) return true;
  return isReference(word) || isFiller(word);
}

/** Whether more text could make a harmless value of it. */
function mayBeHarmless(text: string): boolean {
  const word = withoutPunctuation(text).toLowerCase();
  if (isHarmless(text) || /^(?:\$[a-z0-9_]*|%[a-z0-9_]*|\{|x{1,2})$/.test(word)) return true;
  return (
    harmlessWords.some((known) => known.startsWith(word)) || schemes.some((known) => known.startsWith(word))
  );
}

/** Loops backwards: a pattern for the end of a text would try every position. */
function withoutPunctuation(text: string): string {
  let end = text.length;
  while (end > 0 && ",;.)]}\\".includes(text[end - 1] as string)) end -= 1;
  return text.slice(0, end);
}

function isNumber(word: string): boolean {
  for (let at = 0; at < word.length; at += 1) if (!has(word.charCodeAt(at), isDigit)) return false;
  return true;
}

/** `$TOKEN`, `${TOKEN}`, `$(cat token)`, `%TOKEN%`, `{{ token }}`. */
function isReference(word: string): boolean {
  return /^(?:\$[A-Z_][A-Z0-9_]*$|\$[{(]|%[A-Z_][A-Z0-9_]*%$|\{\{)/.test(word);
}

/** `****`, `xxxxx`, `...` */
function isFiller(word: string): boolean {
  return /^(?:\*+|x{3,}|\.+|-+)$/.test(word);
}
