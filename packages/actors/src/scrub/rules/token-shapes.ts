import {
  ascii,
  has,
  inAlphanumeric,
  inDottedKey,
  inKey,
  inPath,
  inUppercaseId,
  inWord,
  isDigit,
  isUpper,
  matchedLength,
  runEnd,
} from "../bytes.ts";
import { type Continuation, continuation, secretKind } from "../secret-kind.ts";
import type { Rule, TextScan } from "../text-scan.ts";

/** Tokens that are known by how they begin. */
interface Shape {
  /** As written, in its case. */
  readonly literal: string;
  /** Which three or four characters of `literal` are searched for; its first ones when absent. */
  readonly marker?: string;
  /** Classes of the bytes behind the literal, and the smallest number of them. */
  readonly body: number;
  readonly min: number;
  /** A demand on the body's first bytes, `judgedBytes` at most. */
  readonly check?: "digit" | "digit-and-capital";
  /** The literal is no part of the secret. */
  readonly literalStays?: boolean;
  /** The literal is short of a sign of its own, so it counts only where a word begins. */
  readonly beginsWord?: boolean;
  readonly kind?: Continuation;
}

const key = continuation(secretKind.key);
const dottedKey = continuation(secretKind.dottedKey);
const path = continuation(secretKind.path);

/** The bytes of a body by which `check` judges: a whole body or its beginning, so that a split changes nothing. */
const judgedBytes = 32;

// From the vendors' documentation of their token formats. Minimal lengths are below the real ones, which have grown
// before; the literals are distinctive enough.
const shapes: readonly Shape[] = [
  ...["ghp_", "gho_", "ghu_", "ghs_", "ghr_"].map((literal) => ({ literal, body: inWord, min: 16 })),
  { literal: "github_pat_", body: inWord, min: 16 },
  // GitLab: personal, deploy, runner, pipeline trigger, CI job, OAuth application, feed, mail, agent, SCIM tokens.
  ...["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "gloas-", "glft-", "glimt-", "glagent-", "glsoat-"].map(
    (literal) => ({ literal, body: inDottedKey, min: 16, kind: dottedKey }),
  ),
  ...["AKIA", "ASIA"].map((literal) => ({ literal, body: inUppercaseId, min: 16 })),
  { literal: "AIza", body: inKey, min: 30 },
  { literal: "ya29.", body: inDottedKey, min: 16, kind: dottedKey },
  { literal: "GOCSPX-", body: inKey, min: 20 },
  ...["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxe-", "xoxe.", "xoxc-", "xoxd-"].map(
    (literal) => ({
      literal,
      marker: "xox",
      body: inDottedKey,
      min: 10,
      kind: dottedKey,
    }),
  ),
  { literal: "xapp-", body: inKey, min: 10 },
  ...["services/", "workflows/", "triggers/"].map((folder) => ({
    literal: `hooks.slack.com/${folder}`,
    marker: "slac",
    body: inPath,
    min: 8,
    literalStays: true,
    kind: path,
  })),
  ...["discord.com", "discordapp.com"].map((host) => ({
    literal: `${host}/api/webhooks/`,
    body: inPath,
    min: 20,
    literalStays: true,
    kind: path,
  })),
  { literal: "npm_", body: inAlphanumeric, min: 24 },
  ...["sk_live_", "sk_test_", "rk_live_", "rk_test_"].map((literal) => ({
    literal,
    body: inAlphanumeric,
    min: 10,
  })),
  { literal: "whsec_", body: inAlphanumeric, min: 20 },
  ...["bkua_", "bkct_", "bkpt_", "bkaj_", "bkat_"].map((literal) => ({ literal, body: inWord, min: 20 })),
  ...["sk-ant-", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-"].map((literal) => ({
    literal,
    marker: "sk-",
    body: inKey,
    min: 16,
    beginsWord: true,
  })),
  { literal: "sk-", body: inKey, min: 20, check: "digit-and-capital", beginsWord: true },
  { literal: "pypi-AgE", body: inKey, min: 20 },
  ...["dop_v1_", "doo_v1_", "dor_v1_"].map((literal) => ({ literal, body: inAlphanumeric, min: 20 })),
  { literal: "dckr_pat_", body: inKey, min: 16 },
  { literal: "hf_", body: inAlphanumeric, min: 30, beginsWord: true },
  {
    literal: "SG.",
    body: inDottedKey,
    min: 40,
    kind: dottedKey,
    check: "digit-and-capital",
    beginsWord: true,
  },
  ...["hvs.", "hvb."].map((literal) => ({ literal, body: inKey, min: 20, kind: dottedKey })),
  { literal: "AGE-SECRET-KEY-1", marker: "AGE-", body: inUppercaseId, min: 30 },
  { literal: "dapi", body: inAlphanumeric, min: 32, check: "digit", beginsWord: true },
  { literal: "lin_api_", body: inAlphanumeric, min: 20 },
  ...["shpat_", "shpss_", "shpca_"].map((literal) => ({ literal, body: inAlphanumeric, min: 20 })),
  ...["sntrys_", "sntryu_"].map((literal) => ({ literal, body: inWord, min: 20 })),
  // Atlassian; Grafana; Doppler; RubyGems; Pulumi; Figma; NVIDIA; Groq; CircleCI; Square.
  ...["ATATT3x", "ATCTT3x"].map((literal) => ({ literal, body: inKey, min: 20 })),
  ...["glsa_", "glc_"].map((literal) => ({ literal, body: inWord, min: 20 })),
  ...["dp.pt.", "dp.st."].map((literal) => ({ literal, body: inDottedKey, min: 30, kind: dottedKey })),
  { literal: "rubygems_", body: inAlphanumeric, min: 30 },
  { literal: "pul-", body: inAlphanumeric, min: 30, check: "digit", beginsWord: true },
  { literal: "figd_", body: inKey, min: 20 },
  { literal: "nvapi-", body: inKey, min: 30 },
  { literal: "gsk_", body: inAlphanumeric, min: 30, beginsWord: true },
  { literal: "CCIPAT_", body: inWord, min: 20 },
  ...["sq0atp-", "sq0csp-"].map((literal) => ({ literal, body: inKey, min: 20 })),
  { literal: "lin_oauth_", body: inAlphanumeric, min: 20 },
  { literal: "tskey-", body: inKey, min: 16, check: "digit" },
  { literal: "millrace_", body: inKey, min: 20, check: "digit" },
];

/** Markers of all shapes, each with the one rule that tries the shapes with that marker. */
export function shapeRules(): readonly (readonly [string, Rule])[] {
  const byMarker = new Map<string, Shape[]>();
  for (const shape of shapes) {
    const marker = (shape.marker ?? shape.literal.slice(0, 4)).toLowerCase();
    byMarker.set(marker, [...(byMarker.get(marker) ?? []), shape]);
  }
  return [...byMarker].map(([marker, candidates]) => [marker, ruleOf(marker, candidates)] as const);
}

function ruleOf(marker: string, candidates: readonly Shape[]): Rule {
  const prepared = candidates.map((shape) => ({
    shape,
    literal: ascii(shape.literal),
    markerAt: shape.literal.toLowerCase().indexOf(marker),
  }));
  return (scan, at) => {
    for (const { shape, literal, markerAt } of prepared) {
      if (tryShape(scan, { shape, literal, start: at - markerAt })) return;
    }
  };
}

/** A literal cut off by the end of the text is waited for only when so much of it is there. */
const partialLiteralMin = 8;

function tryShape(scan: TextScan, candidate: { shape: Shape; literal: Uint8Array; start: number }): boolean {
  const { shape, literal, start } = candidate;
  if (start < scan.from || (shape.beginsWord === true && scan.withinWord(start))) return false;
  const { bytes, to } = scan;
  const matched = matchedLength(bytes, literal, { at: start, to });
  const secretFrom = shape.literalStays === true ? start + literal.length : start;
  const kind = shape.kind ?? key;
  if (matched < literal.length) {
    if (start + matched < to || matched < partialLiteralMin || shape.literalStays === true) return false;
    scan.unsure(start, kind);
    return true;
  }
  const bodyFrom = start + literal.length;
  const judgedTo = bodyFrom + (shape.check === undefined ? shape.min : Math.max(shape.min, judgedBytes));
  const bodyTo = runEnd(bytes, { from: bodyFrom, to: Math.min(to, judgedTo), bits: shape.body });
  if (scan.goesOn && bodyTo === to && bodyTo < judgedTo) {
    if (bodyTo > secretFrom) scan.unsure(secretFrom, kind);
    return true;
  }
  if (bodyTo - bodyFrom < shape.min || !passes(scan, { shape, bodyFrom, bodyTo })) return false;
  scan.secret(secretFrom, kind);
  return true;
}

function passes(scan: TextScan, body: { shape: Shape; bodyFrom: number; bodyTo: number }): boolean {
  if (body.shape.check === undefined) return true;
  let digit = false;
  let capital = false;
  for (let at = body.bodyFrom; at < body.bodyTo; at += 1) {
    if (has(scan.bytes[at], isDigit)) digit = true;
    if (has(scan.bytes[at], isUpper)) capital = true;
  }
  return digit && (capital || body.shape.check === "digit");
}
