import { has, inBase64, inToken68, isBlank, isDigit, isUpper, latin1, runEnd } from "../bytes.ts";
import { continuation, secretKind } from "../secret-kind.ts";
import type { TextScan } from "../text-scan.ts";

const credentials = continuation(secretKind.token68);

// Prose has "bearer authentication" and "basic usage": a plain short word is no token.
const sureBytes = 20;
const tokenBytesMin = 8;

/** The marker of `Bearer`: the token behind it, unless it is a plain word. */
export function bearer(scan: TextScan, at: number): void {
  const from = valueAfter(scan, at, "bearer");
  if (from < 0) return;
  const end = runEnd(scan.bytes, { from, to: Math.min(scan.to, from + sureBytes), bits: inToken68 });
  const length = end - from;
  if (length >= sureBytes || (length >= tokenBytesMin && looksMadeUp(scan, from, end))) {
    scan.secret(from, credentials);
  } else if (length > 0 && end === scan.to) scan.unsure(from, credentials);
}

/** The marker of `Basic`: base64 behind it that holds a colon, as user and password do. */
export function basic(scan: TextScan, at: number): void {
  const from = valueAfter(scan, at, "basic");
  if (from < 0) return;
  // A user name longer than this, so that no colon comes before, is not looked for.
  const limit = Math.min(scan.to, from + 128);
  const end = runEnd(scan.bytes, { from, to: limit, bits: inBase64 });
  const decoded = Buffer.from(latin1(scan.bytes, from, end), "base64").toString("latin1");
  if (end - from >= tokenBytesMin && /^[\x20-\x39\x3b-\x7e]*:/.test(decoded)) scan.secret(from, credentials);
  else if (end === scan.to && end > from && end - from < 128) scan.unsure(from, credentials);
}

/** Where the word behind the scheme begins; -1 when there is none. */
function valueAfter(scan: TextScan, at: number, scheme: string): number {
  const { bytes, to } = scan;
  const behind = at + scheme.length;
  if (behind >= to || scan.withinWord(at) || latin1(bytes, at, behind).toLowerCase() !== scheme) return -1;
  if (latin1(bytes, behind, Math.min(to, behind + 3)) === "%20") return behind + 3 < to ? behind + 3 : -1;
  const from = runEnd(bytes, { from: behind, to: Math.min(to, behind + 4), bits: isBlank });
  return from > behind && from < to ? from : -1;
}

function looksMadeUp(scan: TextScan, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    if (has(scan.bytes[at], isDigit) || (at > from && has(scan.bytes[at], isUpper))) return true;
  }
  return false;
}
