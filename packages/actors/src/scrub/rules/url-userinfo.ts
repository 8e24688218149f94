import { ascii, byteOf, has, inAuthority, latin1, matchedLength } from "../bytes.ts";
import { continuation, secretKind } from "../secret-kind.ts";
import type { TextScan } from "../text-scan.ts";

// A host name has 253 characters at most; longer runs are no authority.
const authorityBytesMax = 320;

const userinfo = continuation(secretKind.userinfo);

// A host that gives its path away as a secret must not be masked itself.
const webhookHost = ascii("hooks.slack.com");

/** The marker `://`: what stands before the last `@` of a URL's authority. The user `git` of SSH URLs is no secret. */
export function urlUserinfo(scan: TextScan, at: number): void {
  authority(scan, at + 3);
}

/** The marker `:\/`, as some JSON writers escape it. */
export function escapedUrlUserinfo(scan: TextScan, at: number): void {
  if (scan.bytes[at + 3] === byteOf.backslash && scan.bytes[at + 4] === byteOf.slash) authority(scan, at + 5);
}

/** Masks the user information of the authority at `from`, if it has any. */
export function authority(scan: TextScan, from: number): void {
  const { bytes, to } = scan;
  const limit = Math.min(to, from + authorityBytesMax);
  let end = scan.behindPlainAuthority(from);
  let last = -1;
  while (end < limit && has(bytes[end], inAuthority)) {
    if (bytes[end] === byteOf.at) last = end;
    end += 1;
  }
  if (last < 0) scan.notePlainAuthority(from, end);
  if (end === to && end < from + authorityBytesMax && scan.goesOn) {
    if (end > from && !beginsWebhookHost(scan, from)) scan.unsure(from, userinfo);
    return;
  }
  if (last <= from || (last - from === 3 && latin1(bytes, from, last) === "git")) return;
  scan.secretUpTo(from, last, userinfo);
}

function beginsWebhookHost(scan: TextScan, from: number): boolean {
  return from + matchedLength(scan.bytes, webhookHost, { at: from, to: scan.to }) === scan.to;
}
