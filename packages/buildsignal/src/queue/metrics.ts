import type { Metrics } from "@millrace/base/metrics";
import type { FinishResult } from "./finisher.ts";
import type { Delivery, Finish } from "./message.ts";

/** What the queue counts. */
export interface QueueMetrics {
  handedOver(delivery: Delivery): void;
  ended(delivery: Delivery, how: { finish: Finish; result: FinishResult; tookMs: number }): void;
  exhausted(delivery: Delivery): void;
}

export const noQueueMetrics: QueueMetrics = {
  handedOver: () => {},
  ended: () => {},
  exhausted: () => {},
};

const lateSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30];
const handlerSeconds = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30];

export function createQueueMetrics(metrics: Metrics): QueueMetrics {
  const name = (what: string): string => `millrace_signal_${what}`;
  const late = metrics.histogram(name("late_seconds"), "Between due and handed over.", lateSeconds, [
    "topic",
  ]);
  const took = metrics.histogram(name("handler_seconds"), "One handler.", handlerSeconds, ["topic"]);
  const ends = metrics.counter(name("deliveries_total"), "Deliveries ended, by how.", ["topic", "how"]);
  const lost = metrics.counter(name("finishes_lost_total"), "Ends not stored: stale or abandoned.", [
    "topic",
    "result",
  ]);
  const attempts = metrics.counter(name("attempts_total"), "Deliveries handed over again.", ["topic"]);
  return {
    handedOver: ({ topic, lateMs, attempt }) => {
      late.observe({ topic }, lateMs / 1_000);
      if (attempt > 1) attempts.inc({ topic });
    },
    ended: ({ topic }, { finish, result, tookMs }) => {
      took.observe({ topic }, tookMs / 1_000);
      if (result === "stored") ends.inc({ topic, how: finish.kind });
      else lost.inc({ topic, result });
    },
    exhausted: ({ topic }) => ends.inc({ topic, how: "dead" }),
  };
}
