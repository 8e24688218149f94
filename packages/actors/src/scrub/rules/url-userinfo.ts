import { ascii, byteOf, has, inAuthority, latin1, matchedLength } from "../bytes.ts";
import { continuation, secretKind } from "../secret-kind.ts";
import type { TextScan } from "../text-scan.ts";

// A host name has 253 characters at most, but a JSON Web Token as password has over a thousand. Below what the console
// detector puts together of a line.
const authorityBytesMax = 2000;

const userinfo = continuation(secretKind.userinfo);
const encodedUserinfo = continuation(secretKind.value);

// A host that gives its path away as a secret must not be masked itself.
const webhookHost = ascii("hooks.slack.com");

const digestPrefix = ascii("sha256:");

/** The marker `://`: what stands before the last `@` of a URL's authority. The user `git` of SSH URLs is no secret. */
export function urlUserinfo(scan: TextScan, at: number): void {
  authority(scan, at + 3);
}

/** The markers `:\/` and `:\\`, as some JSON writers escape it, with more backslashes for each JSON around that JSON. */
export function escapedUrlUserinfo(scan: TextScan, at: number): void {
  const first = behindEscapedSlash(scan, at + 1);
  const second = first < 0 ? -1 : behindEscapedSlash(scan, first);
  if (second >= 0) authority(scan, second);
}

const backslashesMax = 7;

/** Behind the backslashes and the slash at `at`; -1 when something else stands there. */
function behindEscapedSlash({ bytes, to }: TextScan, at: number): number {
  let index = at;
  while (index < to && index - at < backslashesMax && bytes[index] === byteOf.backslash) index += 1;
  return index > at && index < to && bytes[index] === byteOf.slash ? index + 1 : -1;
}

/** The marker `%2F%` of `%3A%2F%2Fuser%3Apassword%40host`, a URL within the query of another. */
export function encodedUrlUserinfo(scan: TextScan, at: number): void {
  const { bytes, to } = scan;
  const from = at + 6;
  if (at - 3 < scan.from || from >= to || !/^%3a%2f%2f$/i.test(latin1(bytes, at - 3, from))) return;
  const limit = Math.min(to, from + authorityBytesMax);
  let end = from;
  let last = -1;
  while (end < limit && has(bytes[end], inAuthority) && !isEncoded(scan, end, "2f")) {
    if (isEncoded(scan, end, "40")) last = end;
    end += 1;
  }
  if (end === to && end < from + authorityBytesMax && scan.goesOn) {
    if (end > from) scan.unsure(from, encodedUserinfo);
  } else if (last > from) scan.secretUpTo(from, last, encodedUserinfo);
}

function isEncoded(scan: TextScan, at: number, code: string): boolean {
  return (
    scan.bytes[at] === byteOf.percent &&
    latin1(scan.bytes, at + 1, Math.min(at + 3, scan.to)).toLowerCase() === code
  );
}

/** Masks the user information of the authority at `from`, if it has any. */
export function authority(scan: TextScan, from: number): void {
  const { bytes, to } = scan;
  const limit = Math.min(to, from + authorityBytesMax);
  let end = scan.behindPlainAuthority(from);
  let last = -1;
  while (end < limit && has(bytes[end], inAuthority)) {
    if (bytes[end] === byteOf.at && !beginsDigest(scan, end + 1)) last = end;
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

/** `docker://image:tag@sha256:…` */
function beginsDigest(scan: TextScan, at: number): boolean {
  return matchedLength(scan.bytes, digestPrefix, { at, to: scan.to }) === digestPrefix.length;
}

function beginsWebhookHost(scan: TextScan, from: number): boolean {
  return from + matchedLength(scan.bytes, webhookHost, { at: from, to: scan.to }) === scan.to;
}
