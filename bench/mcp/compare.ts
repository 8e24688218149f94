import type { Measured } from "./harness.ts";

/** Where a run is worse than a kept one by more than its gate allows (mcp.md A12). */
export function gateFailures(baseline: Measured, now: Measured): string[] {
  const failures: string[] = [];
  const atMost = (name: string, factor: number): void => {
    const [before, value] = [baseline[name], now[name]];
    if (before === undefined || value === undefined || value <= before * factor) return;
    failures.push(`${name}: ${value.toFixed(3)} is more than ${factor} × ${before.toFixed(3)}`);
  };
  const bound = (name: string, most: number): void => {
    const value = now[name];
    if (value !== undefined && value > most)
      failures.push(`${name}: ${value.toFixed(3)} is more than ${most}`);
  };
  atMost("query_store_bytes", 1.01);
  atMost("store_bytes_2000", 1.01);
  atMost("query_count_sample", 1.5);
  atMost("query_filter_any_case", 1.25);
  atMost("query_filter_letters", 1.25);
  atMost("lookup_p95_us_2000", 2);
  atMost("open_walk_2000", 1.5);
  atMost("open_snapshot_2000", 1.5);
  atMost("gc", 1.5);
  bound("life_commits", 4);
  bound("life_recounts", 2);
  bound("finalise_build", 10);
  bound("finalise_test", 10);
  bound("finalise_query", 20);
  bound("bep_small", 5);
  // A12 asks for 0.1 ms of a thread of its own; here a look-up waits for its turn of the one thread (C6).
  bound("gc_lookup_p95", 1);
  const one = now["writers_1_per_s"] ?? 0;
  const ratio = (name: string, least: number): void => {
    if ((now[name] ?? one) < one * least) failures.push(`${name} is below ${least} × one writer`);
  };
  ratio("writers_8_per_s", 0.9);
  ratio("writers_32_per_s", 0.7);
  return failures;
}
