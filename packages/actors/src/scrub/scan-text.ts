import { byteOf, has, inKey } from "./bytes.ts";
import { createMarkerSearch } from "./marker-search.ts";
import { basic, bearer } from "./rules/bearer.ts";
import { headerFlag } from "./rules/header-flag.ts";
import { jwt } from "./rules/jwt.ts";
import { namedValue } from "./rules/named-value.ts";
import { pemBlock } from "./rules/pem.ts";
import { proxyUserinfo } from "./rules/proxy-userinfo.ts";
import { shapeRules } from "./rules/token-shapes.ts";
import { encodedUrlUserinfo, escapedUrlUserinfo, urlUserinfo } from "./rules/url-userinfo.ts";
import type { Continuation } from "./secret-kind.ts";
import { type Rule, type ScanMode, TextScan } from "./text-scan.ts";

// Every name that `credential-names.ts` knows holds one of these, whichever way its words are joined.
const nameMarkers = [
  ..."toke secr assw assp assc auth sess cook cred bear gnat".split(" "),
  ..."ikey skey tkey ekey gkey nkey hkey ykey rkey _key -key .key key=".split(" "),
  ..."_pw _pas -pwd .pwd pwd= pwd: pwd\" pwd' jwt= jwt: jwt\" jwt' _jwt -jwt".split(" "),
  ..."_pat -pat pat= pat: pat\" pat' dsn= _dsn _otp otp= _sas sas= sig= _sig".split(" "),
];

const rules: readonly (readonly [string, Rule])[] = [
  ...nameMarkers.filter((marker) => marker !== "bear").map((marker) => [marker, namedValue] as const),
  ["bear", bearerOrName],
  ["basi", basic],
  ["_hea", headerFlag],
  ["://", urlUserinfo],
  [":\\/", escapedUrlUserinfo],
  [":\\\\", escapedUrlUserinfo],
  ["%2f%", encodedUrlUserinfo],
  ["roxy", proxyUserinfo],
  ["--be", pemBlock],
  ["eyj", jwt],
  ...shapeRules(),
];

// An environment flag may stand alone, with the variable in the next argument.
const flagEnding = "_env";
const flagNameBytesMax = 64;
const textRuleCount = rules.length;

// A scan is synchronous and starts no other, so one searcher serves a whole thread.
const search = createMarkerSearch([
  ...rules.map(([marker], index) => [marker, index + 1] as const),
  [flagEnding, textRuleCount + 1],
]);

/** `bearer_auth=…` is a name, `Bearer …` is not. */
function bearerOrName(scan: TextScan, at: number): void {
  bearer(scan, at);
  if (scan.resume <= at + 1 && scan.unsureFrom < 0) namedValue(scan, at);
}

/**
 * Finds the secrets in one text. `inside`: a secret has begun in an earlier text and goes on here. Work is linear in the
 * text's length; the bytes are only read.
 */
export function scanText(
  text: { bytes: Uint8Array; from: number; to: number },
  mode: ScanMode,
  inside?: Continuation,
): TextScan {
  const scan = new TextScan(text, mode);
  if (inside !== undefined) scan.secret(text.from, inside, true);
  let at = scan.resume;
  while (scan.open === undefined && scan.unsureFrom < 0 && search.next(text.bytes, at, text.to)) {
    const found = search.at;
    scan.resume = found + 1;
    rules[search.rule - 1]?.[1](scan, found);
    at = scan.resume;
  }
  return scan;
}

/** Offsets at which to look for secrets, ascending; `everywhere` when there are too many to skip anything between. */
export type Places = readonly number[] | "everywhere";

/** Past this many places a message is not worth skipping parts of. */
const placesMax = 4096;

/**
 * Where in a whole message a text's scan might find something: nowhere in nearly every event. `anyMarker`: every marker
 * counts, for messages whose names and values lie in different fields.
 */
export function placesToLook(bytes: Uint8Array, how: { anyMarker: boolean }): Places {
  let scan: TextScan | undefined;
  let places: number[] | undefined;
  let at = 0;
  while (search.next(bytes, at, bytes.length)) {
    at = search.at + 1;
    if (search.rule > textRuleCount) {
      if (!how.anyMarker || !isLoneFlag(bytes, search.at)) continue;
    } else if (!how.anyMarker) {
      if (isFileUri(bytes, search.at)) continue;
      scan ??= new TextScan({ bytes, from: 0, to: bytes.length }, { rough: true });
      scan.matched = false;
      rules[search.rule - 1]?.[1](scan, at - 1);
      if (!scan.matched) continue;
    }
    places ??= [];
    if (places.length === placesMax) return "everywhere";
    places.push(at - 1);
  }
  return places ?? nowhere;
}

const nowhere: readonly number[] = [];

/** `--test_env` without its value. With a value, the name of the variable has a marker of its own if it matters. */
function isLoneFlag(bytes: Uint8Array, at: number): boolean {
  if (bytes[at + flagEnding.length] === byteOf.equals) return false;
  const limit = Math.max(0, at - flagNameBytesMax);
  let from = at;
  while (from > limit && has(bytes[from - 1], inKey)) from -= 1;
  return bytes[from] === byteOf.dash && bytes[from + 1] === byteOf.dash;
}

/** `:///`: by far the most frequent marker, refuted without a scan. */
function isFileUri(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === byteOf.colon && bytes[at + 1] === byteOf.slash && bytes[at + 3] === byteOf.slash;
}

/** Forgets the last bytes scanned, so that a large event does not stay in memory. */
export function releaseScannedBytes(): void {
  search.release();
}
