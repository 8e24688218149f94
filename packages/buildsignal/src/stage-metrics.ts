import type { Metrics } from "@millrace/base/metrics";
import type { ValidationRequest } from "./entities.ts";

/** Why a build is cancelled. */
export type CancelCause = "timed_out" | "duplicate" | "unwanted" | "dead_letter" | "operator";

/** What the stages count. */
export interface StageMetrics {
  ended(request: ValidationRequest): void;
  unknownStatus(queue: string): void;
  polled(queue: string, status: string): void;
  cancelled(queue: string, how: { cause: CancelCause; reached: boolean }): void;
  recordAbandoned(queue: string): void;
  /** From the announcement of a commit until the fact that it is broken. */
  detected(queue: string, afterMs: number): void;
  promotionMissed(queue: string): void;
}

export const noStageMetrics: StageMetrics = {
  ended: () => {},
  unknownStatus: () => {},
  polled: () => {},
  cancelled: () => {},
  recordAbandoned: () => {},
  detected: () => {},
  promotionMissed: () => {},
};

const detectionSeconds = [10, 60, 300, 900, 1_800, 3_600, 7_200, 21_600];

export function createStageMetrics(metrics: Metrics): StageMetrics {
  const name = (what: string): string => `millrace_signal_${what}`;
  const ended = metrics.counter(name("requests_total"), "Requests that ended.", ["queue", "state", "reason"]);
  const unknown = metrics.counter(name("unknown_statuses_total"), "Polls that said nothing.", ["queue"]);
  const polls = metrics.counter(name("polls_total"), "Polls, by status.", ["queue", "status"]);
  const cancels = metrics.counter(name("cancels_total"), "Builds cancelled.", ["queue", "cause", "reached"]);
  const abandoned = metrics.counter(name("records_abandoned_total"), "Outcomes not recorded.", ["queue"]);
  const missed = metrics.counter(name("promotions_missed_total"), "Green commits not found.", ["queue"]);
  const help = "From a commit's announcement until it is known to be broken.";
  const detection = metrics.histogram(name("detection_seconds"), help, detectionSeconds, ["queue"]);
  return {
    ended: ({ queue, state, reason }) => ended.inc({ queue, state, reason: reason ?? "" }),
    unknownStatus: (queue) => unknown.inc({ queue }),
    polled: (queue, status) => polls.inc({ queue, status }),
    cancelled: (queue, { cause, reached }) => cancels.inc({ queue, cause, reached: String(reached) }),
    recordAbandoned: (queue) => abandoned.inc({ queue }),
    detected: (queue, afterMs) => detection.observe({ queue }, afterMs / 1_000),
    promotionMissed: (queue) => missed.inc({ queue }),
  };
}
