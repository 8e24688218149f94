import { byteOf, folded, has, inName, inQuery, inValue, isBlank, latin1, runEnd } from "../bytes.ts";
import { judgeName, type NameJudgement } from "../credential-names.ts";
import { type Continuation, continuation, quoted, secretKind } from "../secret-kind.ts";
import type { TextScan } from "../text-scan.ts";
import { beginsPem } from "./pem.ts";
import {
  awaitsQuote,
  enclosingQuote,
  openingQuote,
  passBlanks,
  passColour,
  passEncodedQuote,
} from "./quotes.ts";
import { endOfScheme, judgeValue } from "./value-judgement.ts";

const nameBytesMax = 64;

const restOfArgument = continuation(secretKind.rest);
const wholeLine = continuation(secretKind.line);
const valueRun = continuation(secretKind.value);
const queryRun = continuation(secretKind.query);

/** A name and what stands around it, up to where its value begins. */
interface Assignment {
  readonly name: NameJudgement;
  readonly nameFrom: number;
  /** The name is in quotes, as in JSON. */
  readonly quotedName: boolean;
  readonly separator: "=" | ":" | " " | ">";
  /** White space stands between name, separator and value. */
  readonly spaced: boolean;
  readonly valueFrom: number;
  readonly header: boolean;
  /** Of `--client_env=NAME=value` and its like. */
  readonly ofEnvironmentFlag: boolean;
  readonly inQuery: boolean;
}

/**
 * A marker within a name that may stand for a credential (`toke`, `pwd=`): `NAME=value`, `"name": "value"`,
 * `Header-Name: value`, `--name value`, `?name=value`, `<name>value</name>`, `login somebody password value`.
 */
export function namedValue(scan: TextScan, at: number): void {
  const assignment = readAssignment(scan, at);
  if (assignment === undefined) return;
  if (scan.rough) {
    // What stands before the name is unknown, so the name cannot be judged but by its end.
    const { separator, spaced, quotedName, name, header } = assignment;
    if (separator !== ":" || spaced || quotedName || name.wholeLine || header) scan.secret(at, valueRun);
    return;
  }
  if (!isCredential(assignment)) return;
  if (assignment.inQuery) maskRun(scan, assignment, queryRun);
  else if (isWholeArgument(scan, assignment)) maskArgument(scan, assignment);
  else maskInText(scan, assignment);
}

function readAssignment(scan: TextScan, at: number): Assignment | undefined {
  const { bytes, to } = scan;
  const nameTo = runEnd(bytes, { from: at, to: Math.min(to, at + nameBytesMax), bits: inName });
  if (nameTo === to) return undefined;
  const { afterName, quotedName } = endOfQuotedName(scan, nameTo);
  const separatorAt = passBlanks(scan, afterName);
  if (separatorAt >= to) return undefined;
  const nameFrom = startOfName(scan, at);
  const mayStandAlone =
    !quotedName && separatorAt > afterName && (scan.rough || mayBeApart(scan, nameFrom, nameTo));
  const separator = separatorOf(scan, separatorAt, { mayStandAlone, tagged: isTag(scan, nameFrom) });
  if (separator === undefined) return undefined;
  const behind = separator === " " ? separatorAt : behindSeparator(scan, separatorAt);
  const blanksTo = passBlanks(scan, behind);
  const valueFrom = quotedName
    ? passEncodedQuote(scan, passColour(scan, blanksTo))
    : passColour(scan, blanksTo);
  if (valueFrom >= to) return undefined;
  const text = latin1(bytes, nameFrom, nameTo);
  const before = nameFrom > scan.from ? (bytes[nameFrom - 1] as number) : 0;
  return {
    name: judgeName(text.replace(/^-+/, "")),
    nameFrom,
    quotedName,
    separator,
    spaced: separatorAt > afterName || blanksTo > behind || separator === ">",
    valueFrom,
    header: text.includes("-") && !text.startsWith("-"),
    ofEnvironmentFlag: followsEnvironmentFlag(scan, nameFrom),
    inQuery:
      separator === "=" &&
      (before === byteOf.question || before === byteOf.ampersand || before === byteOf.semicolon),
  };
}

/** A quote behind the name, as in JSON, also in JSON within a URL. */
function endOfQuotedName(scan: TextScan, nameTo: number): { afterName: number; quotedName: boolean } {
  const uncoloured = passColour(scan, nameTo);
  const behind = openingQuote(scan, uncoloured)?.behind ?? passEncodedQuote(scan, uncoloured);
  return { afterName: behind, quotedName: behind > uncoloured };
}

/** The value may follow without a separator: of a flag, or of the password in a line of .netrc. */
function mayBeApart(scan: TextScan, nameFrom: number, nameTo: number): boolean {
  if (scan.bytes[nameFrom] === byteOf.dash) return scan.bytes[nameFrom + 1] === byteOf.dash;
  if (latin1(scan.bytes, nameFrom, nameTo) !== "password") return false;
  const before = latin1(scan.bytes, Math.max(scan.from, nameFrom - netrcBytesMax), nameFrom);
  return /(?:^|[\s])login[ \t]+[^\s]+\s+$/.test(before);
}

const netrcBytesMax = 96;

/** `<password>` */
function isTag(scan: TextScan, nameFrom: number): boolean {
  return nameFrom > scan.from && scan.bytes[nameFrom - 1] === byteOf.less;
}

function separatorOf(
  scan: TextScan,
  at: number,
  name: { mayStandAlone: boolean; tagged: boolean },
): Assignment["separator"] | undefined {
  const byte = scan.bytes[at];
  if (byte === byteOf.equals || isEncoded(scan, at, equalsCode)) return "=";
  if (byte === byteOf.colon || isEncoded(scan, at, colonCode)) return ":";
  if (byte === byteOf.greater && name.tagged) return ">";
  return name.mayStandAlone && byte !== byteOf.dash ? " " : undefined;
}

const equalsCode = /^%3d$/i;
const colonCode = /^%3a$/i;

function isEncoded(scan: TextScan, at: number, code: RegExp): boolean {
  return scan.bytes[at] === byteOf.percent && code.test(latin1(scan.bytes, at, Math.min(at + 3, scan.to)));
}

/** Behind `=`, `:`, `:=`, `=>`, `>`, `%3D` or `%3A`. */
function behindSeparator(scan: TextScan, at: number): number {
  if (scan.bytes[at] === byteOf.percent) return at + 3;
  const next = scan.bytes[at + 1];
  const second = scan.bytes[at] === byteOf.colon ? byteOf.equals : byteOf.greater;
  return next === second && at + 1 < scan.to ? at + 2 : at + 1;
}

function startOfName(scan: TextScan, at: number): number {
  const limit = Math.max(scan.from, at - nameBytesMax);
  let start = at;
  while (start > limit && has(scan.bytes[start - 1], inName)) start -= 1;
  return start;
}

/** `_env=` or `_env ` stands before the name, and perhaps a quote. */
function followsEnvironmentFlag(scan: TextScan, nameFrom: number): boolean {
  const before = scan.bytes[nameFrom - 1];
  const to = before === byteOf.doubleQuote || before === byteOf.singleQuote ? nameFrom - 1 : nameFrom;
  if (to - 5 < scan.from) return false;
  return /^_env[= ]$/.test(latin1(scan.bytes, to - 5, to));
}

function isCredential({ name, ofEnvironmentFlag, inQuery, separator }: Assignment): boolean {
  if (inQuery) return name.ends || name.queryOnly;
  if (separator === "=" && (ofEnvironmentFlag || name.environmentStyle)) return name.contains || name.ends;
  return name.ends || (separator === ":" && name.wholeLine);
}

/** `--flag=value` or `NAME=value` as a whole argument. */
function isWholeArgument(scan: TextScan, { nameFrom, separator, quotedName, spaced }: Assignment): boolean {
  if (!scan.argument || quotedName) return false;
  if (separator === " ") return scan.bytes[scan.from] === byteOf.dash && nameFrom === scan.from;
  const plain = separator === "=" && !spaced;
  return plain && (nameFrom === scan.from || scan.bytes[scan.from] === byteOf.dash);
}

function maskArgument(scan: TextScan, { valueFrom, ofEnvironmentFlag }: Assignment): void {
  const value = { from: valueFrom, bits: inValue, mustLookMadeUp: false };
  if (ofEnvironmentFlag || judgeValue(scan, value) === "secret") scan.secret(valueFrom, restOfArgument);
}

function maskInText(scan: TextScan, assignment: Assignment): void {
  const { separator, name, valueFrom, quotedName } = assignment;
  if (awaitsQuote(scan, valueFrom)) return;
  const quote = openingQuote(scan, valueFrom);
  if (quote !== undefined && separator !== " ") {
    const from = quote.behind;
    if (from < scan.to && scan.bytes[from] !== quote.quote) {
      judgeRun(scan, {
        from,
        kind: quoted(quote.quote, quote.depth),
        mustLookMadeUp: false,
        closing: quote.quote,
      });
    }
    return;
  }
  const first = scan.bytes[valueFrom];
  if (first === byteOf.leftBrace || first === byteOf.leftBracket) return;
  if (quotedName) {
    maskRun(scan, { ...assignment, spaced: true }, queryRun);
    return;
  }
  const around = enclosingQuote(scan, assignment.nameFrom);
  if (separator === ":" && name.wholeLine) {
    maskLine(scan, valueFrom, around === undefined ? wholeLine : quoted(around.quote, around.depth));
  } else if (separator === "=" && !assignment.spaced && around !== undefined) {
    judgeRun(scan, { from: valueFrom, kind: quoted(around.quote, around.depth), mustLookMadeUp: false });
  } else if (isLikely(scan, assignment)) maskRun(scan, assignment, valueRun);
}

/** A colon without white space is a label's or a time's, but for headers of the form `x-…`. */
function isLikely(scan: TextScan, { separator, spaced, nameFrom }: Assignment): boolean {
  return separator !== ":" || spaced || isExtensionHeader(scan, nameFrom);
}

function isExtensionHeader(scan: TextScan, nameFrom: number): boolean {
  return folded[scan.bytes[nameFrom] as number] === letterX && scan.bytes[nameFrom + 1] === byteOf.dash;
}

function maskLine(scan: TextScan, from: number, kind: Continuation): void {
  if (endOfScheme(scan, from) >= 0) scan.secret(from, kind);
  else judgeRun(scan, { from, kind, mustLookMadeUp: false });
}

function maskRun(scan: TextScan, assignment: Assignment, kind: Continuation): void {
  const { separator, spaced, nameFrom, valueFrom, inQuery: ofQuery, name } = assignment;
  const scheme = endOfScheme(scan, valueFrom);
  const from = scheme < 0 ? valueFrom : runEnd(scan.bytes, { from: scheme, to: scan.to, bits: isBlank });
  if (scheme >= 0 && from === scheme) return;
  const assigned = separator === "=" && !spaced && (!ofQuery || name.ends);
  const sure = scheme >= 0 || assigned || (separator === ":" && isExtensionHeader(scan, nameFrom));
  judgeRun(scan, { from, kind, mustLookMadeUp: !sure });
}

const letterX = 0x78;

interface Judged {
  readonly from: number;
  readonly kind: Continuation;
  readonly mustLookMadeUp: boolean;
  readonly closing?: number;
}

function judgeRun(scan: TextScan, judged: Judged): void {
  const { from, kind } = judged;
  const bits = kind.kind === secretKind.query ? inQuery : inValue;
  if (from >= scan.to || !has(scan.bytes[from], bits)) return;
  const pem = beginsPem(scan, from);
  // The PEM rule masks it, to the end of the block.
  if (pem === "yes") return;
  const judgement = pem === "unsure" ? pem : judgeValue(scan, { ...judged, bits });
  if (judgement === "secret") scan.secret(from, kind);
  else if (judgement === "unsure") scan.unsure(from, pem === "unsure" ? continuation(secretKind.pem) : kind);
}
