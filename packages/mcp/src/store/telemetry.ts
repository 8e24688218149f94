import type { Metrics } from "./record.ts";

type Counter = "inspect_calls" | "model_visible_bytes" | "progress_notifications";

/** Counts that come too often to be written each time: kept here, added to the next commit of their record. */
export class Telemetry {
  private readonly pending = new Map<string, Map<Counter, number>>();

  add(id: string, counter: Counter, amount: number): void {
    const counts = this.pending.get(id) ?? new Map<Counter, number>();
    counts.set(counter, (counts.get(counter) ?? 0) + amount);
    this.pending.set(id, counts);
  }

  ids(): string[] {
    return [...this.pending.keys()];
  }

  /** `metrics` with what is pending for `id`, which is then no longer pending. */
  take(id: string, metrics: Metrics | undefined): Metrics {
    const counts = this.pending.get(id);
    this.pending.delete(id);
    const sum: Record<string, number> = { ...metrics };
    for (const [counter, amount] of counts ?? []) sum[counter] = (sum[counter] ?? 0) + amount;
    return sum;
  }
}
