import { ascii, byteOf, has, isDigit, isUpper, matchedLength } from "../bytes.ts";
import { continuation, secretKind } from "../secret-kind.ts";
import type { TextScan } from "../text-scan.ts";

const begin = ascii("-----BEGIN ");
const markerAt = 3;
const partialBeginMin = 8;
const labelBytesMax = 48;

const block = continuation(secretKind.pem);

/** The marker `--BE`: a PEM block of a private key, masked from its BEGIN line to its END line. */
export function pemBlock(scan: TextScan, at: number): void {
  const start = at - markerAt;
  if (start < scan.from) return;
  const matched = matchedLength(scan.bytes, begin, { at: start, to: scan.to });
  if (matched < begin.length) {
    if (start + matched === scan.to && matched >= partialBeginMin) scan.unsure(start, block);
    return;
  }
  const labelFrom = start + begin.length;
  const labelTo = endOfLabel(scan, labelFrom);
  if (labelTo === scan.to || isCutOff(scan, labelTo)) {
    if (scan.goesOn) scan.unsure(start, block);
    return;
  }
  if (scan.bytes[labelTo] === byteOf.dash && namesPrivateKey(scan, labelFrom, labelTo))
    scan.secret(start, block);
}

/** Whether `bytes[from, to)` is the beginning of a BEGIN line and nothing else. */
export function beginsPem(scan: TextScan, from: number): "yes" | "no" | "unsure" {
  const matched = matchedLength(scan.bytes, begin, { at: from, to: scan.to });
  if (matched === begin.length) return "yes";
  return matched > 0 && from + matched === scan.to && scan.goesOn ? "unsure" : "no";
}

function endOfLabel(scan: TextScan, from: number): number {
  let at = from;
  const limit = Math.min(scan.to, from + labelBytesMax);
  while (at < limit && (has(scan.bytes[at], isUpper | isDigit) || scan.bytes[at] === byteOf.space)) at += 1;
  return at;
}

/** The dashes behind the label are cut off by the end of the text. */
function isCutOff(scan: TextScan, labelTo: number): boolean {
  let at = labelTo;
  while (at < scan.to && scan.bytes[at] === byteOf.dash) at += 1;
  return at === scan.to && at - labelTo < 5 && scan.goesOn;
}

function namesPrivateKey(scan: TextScan, from: number, to: number): boolean {
  const label = Buffer.from(scan.bytes.buffer, scan.bytes.byteOffset + from, to - from).toString("latin1");
  return label.endsWith("PRIVATE KEY") || label.endsWith("PRIVATE KEY BLOCK");
}
