import { MillraceError } from "@millrace/base/errors";

/**
 * Why a runner failed.
 *
 * - `transient`: asking again may help; the only kind that is tried again.
 * - `not_found`, `forbidden`, `invalid`: the provider will say the same again.
 * - `uncertain`: the build may have been started (trigger only); trying again could start a second one.
 */
export type RunnerFailure = "transient" | "not_found" | "forbidden" | "invalid" | "uncertain";

/** A failure of a runner; its remedy is `retry` for `transient` alone. */
export class RunnerError extends MillraceError {
  readonly kind: RunnerFailure;
  /** The provider asked to wait so long before the next call. */
  readonly retryAfterMs: number | undefined;

  constructor(what: { kind: RunnerFailure; message: string; retryAfterMs?: number; cause?: unknown }) {
    super({
      remedy: what.kind === "transient" ? "retry" : "reject",
      code: `runner-${what.kind.replace("_", "-")}`,
      message: what.message,
      cause: what.cause,
    });
    this.name = "RunnerError";
    this.kind = what.kind;
    this.retryAfterMs = what.retryAfterMs;
  }
}

export type RunnerCall = "trigger" | "status" | "cancel";

/** Answers of a server that may have started the build before it failed. */
const mayHaveStarted = new Set([500, 502, 504]);

/**
 * What an HTTP status other than 2xx means. Every 5xx, 408 and 429 are worth another try, all else is not; but after
 * 500, 502 or 504 to `trigger` the build may exist.
 */
export function classifyHttpStatus(status: number, call: RunnerCall): RunnerFailure {
  if (call === "trigger" && mayHaveStarted.has(status)) return "uncertain";
  if (status >= 500 || status === 408 || status === 429) return "transient";
  if (status === 404 || status === 410) return "not_found";
  return status === 401 || status === 403 ? "forbidden" : "invalid";
}
