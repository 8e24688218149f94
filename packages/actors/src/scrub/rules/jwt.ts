import { byteOf, inKey, runEnd } from "../bytes.ts";
import { continuation, secretKind } from "../secret-kind.ts";
import type { TextScan } from "../text-scan.ts";

// A header may carry certificates and be longer; then the payload, which begins alike, is found as a token of its own.
const headerBytesMax = 512;
const headerBytesMin = 8;
const payloadBytesMin = 4;

const token = continuation(secretKind.dottedKey);

/** The marker `eyJ`, base64 of `{"`: a JSON Web Token is a header, a dot, a payload, a dot and a signature. */
export function jwt(scan: TextScan, at: number): void {
  if (scan.withinWord(at)) return;
  const { bytes, to } = scan;
  const dot = scan.keyRunEnd(at);
  if (dot - at > headerBytesMax) return;
  if (dot === to) {
    scan.unsure(at, token);
    return;
  }
  if (dot - at < headerBytesMin || bytes[dot] !== byteOf.dot) return;
  const payloadTo = runEnd(bytes, {
    from: dot + 1,
    to: Math.min(to, dot + 1 + payloadBytesMin),
    bits: inKey,
  });
  // Encrypted tokens with a direct key have an empty second part.
  const known = payloadTo - dot > payloadBytesMin || bytes[payloadTo] === byteOf.dot;
  if (known) scan.secret(at, token);
  else if (payloadTo === to) scan.unsure(at, token);
}
