import { byteOf, inName, runEnd } from "../bytes.ts";
import type { TextScan } from "../text-scan.ts";
import { openingQuote } from "./quotes.ts";
import { authority } from "./url-userinfo.ts";

const nameBytesMax = 64;

/** The marker `roxy` of `http_proxy=user:password@host:3128`, a URL without its scheme. */
export function proxyUserinfo(scan: TextScan, at: number): void {
  const nameTo = runEnd(scan.bytes, { from: at, to: Math.min(scan.to, at + nameBytesMax), bits: inName });
  if (nameTo >= scan.to || scan.bytes[nameTo] !== byteOf.equals) return;
  authority(scan, openingQuote(scan, nameTo + 1)?.behind ?? nameTo + 1);
}
