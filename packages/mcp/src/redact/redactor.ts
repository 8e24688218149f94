import { type FlagKind, maskArgument, pendingAfter } from "@millrace/actors/scrub/arguments";
import { judgeName } from "@millrace/actors/scrub/credential-names";
import { applyEdits, maskText } from "@millrace/actors/scrub/edits";
import { scanText } from "@millrace/actors/scrub/scan-text";

/** What stands where a secret stood: the same mark as in events that a Millrace server stores. */
export const redacted = "<redacted>";

/** Takes secrets out of what is kept in records or shown. Applied before any filter, so that no filter can probe one. */
export interface Redactor {
  text(text: string): string;
  /** Words of a command line: a flag's value may stand in the word behind it. */
  arguments(list: readonly string[]): string[];
}

/** The server's rules, stricter ones for what goes to a model, and the user's own regular expressions. Always on. */
export function createRedactor(own: readonly string[]): Redactor {
  const ownPatterns = own.map((source) => new RegExp(source, "g"));
  const further = (text: string): string =>
    ownPatterns.reduce((output, pattern) => output.replace(pattern, redacted), maskDoubtful(text));
  return {
    text: (text) => further(maskBytes(text, (bytes, to) => scanText({ bytes, from: 0, to }, {}).spans)),
    arguments: (list) => {
      let pending: FlagKind | undefined;
      return list.map((word) => {
        const masked = maskBytes(word, (bytes, to) => {
          const ranges = maskArgument({ bytes, from: 0, to }, pending);
          pending = pendingAfter({ bytes, from: 0, to });
          return ranges;
        });
        return further(masked);
      });
    },
  };
}

type Find = (
  bytes: Uint8Array,
  to: number,
) => readonly { readonly from: number; readonly to: number; readonly continued?: boolean }[];

/** The text itself when nothing is found. */
function maskBytes(text: string, find: Find): string {
  const bytes = Buffer.from(text);
  const spans = find(bytes, bytes.length);
  if (spans.length === 0) return text;
  const edits = spans.map(({ from, to, continued = false }) => ({
    from,
    to,
    bytes: maskText({ continued }),
  }));
  return Buffer.from(applyEdits(bytes, { from: 0, to: bytes.length }, edits)).toString();
}

// Without any of these no rule below can match; most lines end here.
const suspicious =
  /oken|earer|asic|ecret|assw|assp|redential|ookie|ession|ignature|[kK]ey|auth|Auth|[A-Z]{4}/;
const scheme = /\b((?:bearer|basic|token)\s+)([A-Za-z0-9+/._~=-]{8,})/gi;
const assignment = /\b([\w.-]{3,64})(["']?(?:\s*=\s*|\s*:\s+)["']?)(?!<redacted>)([^\s"'&,;]{8,})/g;

/**
 * The server keeps what may be prose, because people read its logs beside the secret's owner. Here a value that looks made up goes
 * as well behind `token`, `Basic` and any name with a credential's word in it: an answer can do without it.
 */
function maskDoubtful(text: string): string {
  if (!suspicious.test(text)) return text;
  return text
    .replace(scheme, (all, words: string, value: string) => (looksMadeUp(value) ? words + redacted : all))
    .replace(assignment, (all, name: string, between: string, value: string) =>
      judgeName(name).contains && looksMadeUp(value) ? name + between + redacted : all,
    );
}

/** A path, a label or a URL. Capitals in a relative path say base64 rather than path. */
const place = /^(?:\.{0,2}\/|@|[a-z]{1,15}:\/\/|[a-z0-9_.-]+\/[a-z0-9_./-]+(?![A-Z+=]))/;

/** Digits among letters, or capitals in the middle of a word; not a path, a label or a version. */
function looksMadeUp(value: string): boolean {
  if (place.test(value) || /^v?[\d._-]+$/.test(value)) return false;
  const hasBoth = /[A-Za-z]/.test(value) && /\d/.test(value);
  const isMixed = /[a-z]/.test(value) && /[A-Z].*[A-Z]/.test(value.slice(1));
  return hasBoth || isMixed || value.length >= 32;
}
