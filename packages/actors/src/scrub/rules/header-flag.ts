import { ascii, byteOf, has, inName, matchedLength } from "../bytes.ts";
import { continuation, quoted, secretKind } from "../secret-kind.ts";
import type { TextScan } from "../text-scan.ts";
import { awaitsQuote, enclosingQuote, openingQuote, passBlanks } from "./quotes.ts";

const ending = ascii("_header");
const nameBytesMax = 64;
const headerNameBytesMax = 128;

const restOfArgument = continuation(secretKind.rest);
const words = continuation(secretKind.flagWords);

/** The marker `_hea` of `--bes_header=…`, `--remote_header …` and every other `--*_header`: all of the value. */
export function headerFlag(scan: TextScan, at: number): void {
  const { bytes, to } = scan;
  const nameTo = at + ending.length;
  if (nameTo >= to || matchedLength(bytes, ending, { at, to }) < ending.length) return;
  let nameFrom = at;
  while (nameFrom > scan.from && at - nameFrom < nameBytesMax && has(bytes[nameFrom - 1], inName))
    nameFrom -= 1;
  // A name that is cut off in front is a flag only by what it ends in.
  if (!scan.rough && !(bytes[nameFrom] === byteOf.dash && bytes[nameFrom + 1] === byteOf.dash)) return;
  const assigned = bytes[nameTo] === byteOf.equals;
  const valueFrom = assigned ? nameTo + 1 : passBlanks(scan, nameTo);
  if (valueFrom === nameTo || valueFrom >= to) return;
  if (scan.argument) scan.secret(valueFrom, restOfArgument);
  else maskInText(scan, { nameFrom, valueFrom, assigned });
}

function maskInText(
  scan: TextScan,
  { nameFrom, valueFrom, assigned }: { nameFrom: number; valueFrom: number; assigned: boolean },
): void {
  if (awaitsQuote(scan, valueFrom)) return;
  const around = enclosingQuote(scan, nameFrom);
  const quote = around ?? openingQuote(scan, valueFrom);
  const from = around === undefined ? (quote?.behind ?? valueFrom) : valueFrom;
  const byte = scan.bytes[from] ?? byteOf.space;
  if (from >= scan.to || byte <= byteOf.space || byte === quote?.quote) return;
  const kind = quote === undefined ? words : quoted(quote.quote, quote.depth);
  if (assigned || quote !== undefined) scan.secret(from, kind);
  else maskNextWord(scan, from);
}

/** `--bes_header name=value`: the next word is a header only if it has an equals sign, or prose would be masked. */
function maskNextWord(scan: TextScan, from: number): void {
  const limit = Math.min(scan.to, from + headerNameBytesMax);
  let at = from;
  while (at < limit && scan.bytes[at] !== byteOf.equals && (scan.bytes[at] as number) > byteOf.space) at += 1;
  if (at < limit && scan.bytes[at] === byteOf.equals) scan.secret(from, words);
  else if (at === scan.to) scan.unsure(from, words);
}
