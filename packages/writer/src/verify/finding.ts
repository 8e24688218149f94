import type { StoredAttempt } from "@millrace/db/verify";

/** Which rule is broken. */
export type FindingKind =
  | "events-not-contiguous"
  | "events-not-at-position"
  | "log-not-continuous"
  | "log-not-at-carry"
  | "status-not-final"
  | "totals-not-right"
  | "row-missing"
  | "orphan-rows"
  | "blob-missing"
  | "segment-damaged"
  | "archive-damaged"
  | "blob-orphan"
  | "day-not-dropped";

/** Every kind, for the metric that counts them. */
export const findingKinds: readonly FindingKind[] = [
  "events-not-contiguous",
  "events-not-at-position",
  "log-not-continuous",
  "log-not-at-carry",
  "status-not-final",
  "totals-not-right",
  "row-missing",
  "orphan-rows",
  "blob-missing",
  "segment-damaged",
  "archive-damaged",
  "blob-orphan",
  "day-not-dropped",
];

/** Something that is not as it must be. */
export interface Finding {
  readonly kind: FindingKind;
  /** Whose; undefined for rows that belong to nobody. */
  readonly attempt:
    | { readonly project: string; readonly invocationId: string; readonly attempt: number }
    | undefined;
  readonly attemptId: number;
  readonly message: string;
}

/** A finding about this attempt. */
export function findingOf(stored: StoredAttempt, what: { kind: FindingKind; message: string }): Finding {
  const { project, invocationId, attempt, attemptId } = stored;
  return { ...what, attemptId, attempt: { project, invocationId, attempt } };
}

/** One line for a person. */
export function findingText(finding: Finding): string {
  const { attempt, attemptId, message } = finding;
  if (attempt === undefined && attemptId === 0) return message;
  if (attempt === undefined) return `attempt id ${attemptId}: ${message}`;
  return `${attempt.project} ${attempt.invocationId} attempt ${attempt.attempt}: ${message}`;
}
