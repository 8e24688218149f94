import type { AttemptRow } from "../queries/attempts.ts";

/**
 * What identifies everything that is shown of an attempt: its rows change only together with its position or its status.
 * `version` makes clients read anew after an upgrade, which may show the same rows otherwise.
 */
export function attemptTag(row: AttemptRow, more: { version: string; attempts?: number }): string {
  const { attempt, attemptId, status, endedAt } = row.invocation;
  const parts = [
    more.version,
    attemptId,
    attempt,
    row.lastSequence,
    status,
    endedAt?.getTime() ?? 0,
    more.attempts ?? 0,
  ];
  return `W/"${parts.join("-")}"`;
}

/** True when the client has just this already (RFC 9110 §13.1.2, by weak comparison). */
export function isKnown(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const bare = (text: string): string => text.trim().replace(/^W\//, "");
  return ifNoneMatch.split(",").some((each) => bare(each) === bare(tag) || each.trim() === "*");
}

/** JSON is asked for again each time and answered with 304 while it is the same. */
export const revalidated = "private, no-cache";

/** Bytes of an attempt whose end is stored, asked for by its number: nothing can change them. */
export const immutable = "private, max-age=31536000, immutable";

export function notModified(tag: string): Response {
  return new Response(null, { status: 304, headers: { etag: tag, "cache-control": revalidated } });
}
