import { errorText } from "@millrace/base/errors";
import { retryDelayMs } from "../backoff.ts";
import { RunnerError } from "../runner-error.ts";
import type { Delivery, Finish } from "./message.ts";
import { attemptsForEver, type TopicSettings } from "./topic-settings.ts";
import { isRetryable, judge } from "./verdict.ts";

/** What a handler decides about its message; everything else it throws. */
export type Outcome =
  | { readonly kind: "done" }
  /** Show it again after `delayMs`. `fresh`: something has changed, the holds are counted anew. */
  | { readonly kind: "hold"; readonly delayMs: number; readonly fresh?: boolean };

export const done: Outcome = { kind: "done" };

/** The longest that a provider may have a retry wait. */
const retryAfterMsMax = 15 * 60_000;

/** How the delivery ends after its handler returned. */
export function finishAfterOutcome(
  outcome: Outcome,
  at: { delivery: Delivery; settings: TopicSettings },
): Finish {
  if (outcome.kind === "done") return outcome;
  const heldMsMax = at.settings.held_ms_max;
  if (heldMsMax !== undefined && at.delivery.heldForMs >= heldMsMax) {
    return { kind: "dead", reason: `held for ${at.delivery.heldForMs} ms, longer than ${heldMsMax} ms` };
  }
  const delayMs = Number.isFinite(outcome.delayMs) ? Math.max(0, Math.round(outcome.delayMs)) : 0;
  return { kind: "hold", delayMs, fresh: outcome.fresh ?? false };
}

/** How the delivery ends after its handler failed. The reconcilers' topics retry whatever it was. */
export function finishAfterError(
  error: unknown,
  at: { delivery: Delivery; settings: TopicSettings; fraction: number },
): Finish {
  const { delivery, settings } = at;
  const isForEver = settings.attempts_max === attemptsForEver;
  if (!isForEver && !isRetryable(judge(error))) return { kind: "dead", reason: errorText(error) };
  if (delivery.attempt >= settings.attempts_max) {
    return { kind: "dead", reason: `attempt ${delivery.attempt}: ${errorText(error)}` };
  }
  const backoff = {
    initialMs: settings.retry_initial_ms,
    multiplier: settings.retry_multiplier,
    maxMs: settings.retry_ms_max,
    jitter: settings.retry_jitter,
  };
  const asked = error instanceof RunnerError ? (error.retryAfterMs ?? 0) : 0;
  const delayMs = Math.max(
    retryDelayMs(backoff, delivery.attempt, at.fraction),
    Math.min(asked, retryAfterMsMax),
  );
  return { kind: "retry", delayMs, isBarrier: settings.retry_order === "barrier" };
}
