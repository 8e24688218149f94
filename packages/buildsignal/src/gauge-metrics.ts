import type { Metrics } from "@millrace/base/metrics";
import type { SignalGauges } from "./store/pg-gauges.ts";

/** The registry with gauges that are read from the tables whenever the metrics are asked for. */
export function withGauges(metrics: Metrics, read: () => Promise<SignalGauges>): Metrics {
  const name = (what: string): string => `millrace_signal_${what}`;
  const slots = metrics.gauge(name("slots"), "Slots taken.", ["queue"]);
  const letters = metrics.gauge(name("dead_letters"), "Dead letters that nobody has reconciled.", ["topic"]);
  const gates = metrics.gauge(name("gates_closed"), "Gates that an operator has closed.", ["topic"]);
  const unfinished = metrics.gauge(name("unfinished"), "Deliveries that are not finished.", ["topic"]);
  const held = metrics.gauge(name("held"), "Deliveries that are held.", ["topic"]);
  const heldMax = metrics.gauge(name("held_seconds_max"), "How long the longest is held.", ["topic"]);
  const all = [slots, letters, gates, unfinished, held, heldMax];
  return {
    ...metrics,
    text: async () => {
      const now = await read();
      for (const gauge of all) gauge.reset();
      for (const { queue, taken } of now.slots) slots.set({ queue }, taken);
      for (const { topic, open } of now.letters) letters.set({ topic }, open);
      for (const { topic, closed } of now.gates) gates.set({ topic }, closed);
      for (const one of now.deliveries) {
        const { topic } = one;
        unfinished.set({ topic }, one.unfinished);
        held.set({ topic }, Number(one.held));
        heldMax.set({ topic }, one.heldSecondsMax);
      }
      return await metrics.text();
    },
  };
}
