import { LatencyHistogram } from "./latency-histogram.ts";
import type { LoadCounts, LoadMeasures, WindowMeasures } from "./load-meter.ts";

/** The result of a run; times in milliseconds, rates of the time that was measured. */
export interface LoadReport extends LoadCounts {
  readonly messages: readonly string[];
  readonly measuredSeconds: number;
  readonly eventsPerSecond: number;
  readonly buildsPerSecond: number;
  readonly ackP50Ms: number;
  readonly ackP90Ms: number;
  readonly ackP99Ms: number;
  readonly ackP999Ms: number;
  readonly ackMaxMs: number;
  readonly flushP50Ms: number;
  readonly flushP99Ms: number;
  readonly flushMaxMs: number;
  /** The generator's own CPU time per event, all its processes together. */
  readonly generatorCpuMicrosPerEvent: number;
  /** How late the generator's own event loop is, in its worst process. */
  readonly generatorLoopDelayP99Ms: number;
}

/** Puts together what the processes of a run saw. */
export function reportOf(parts: readonly LoadMeasures[]): LoadReport {
  const windows = parts.map((part) => part.window);
  const acks = histogramOf(windows.map((window) => window.acks));
  const flushes = histogramOf(windows.map((window) => window.flushes));
  const measuredSeconds = Math.max(...windows.map((window) => window.ms)) / 1_000;
  const perSecond = (count: number): number => round(measuredSeconds > 0 ? count / measuredSeconds : 0, 1);
  const events = sum(windows, (window) => window.events);
  const cpuMicros = sum(windows, (window) => window.cpuMicros);
  const count = (name: keyof LoadCounts): number => sum(parts, (part) => part.counts[name]);
  return {
    builds: count("builds"),
    failed: count("failed"),
    messages: parts.flatMap((part) => part.messages).slice(0, 5),
    eventsAcked: count("eventsAcked"),
    resent: count("resent"),
    missingAcks: count("missingAcks"),
    reconnects: count("reconnects"),
    measuredSeconds: round(measuredSeconds, 2),
    eventsPerSecond: Math.round(perSecond(events)),
    buildsPerSecond: perSecond(sum(windows, (window) => window.builds)),
    ackP50Ms: round(acks.percentile(0.5), 2),
    ackP90Ms: round(acks.percentile(0.9), 2),
    ackP99Ms: round(acks.percentile(0.99), 2),
    ackP999Ms: round(acks.percentile(0.999), 2),
    ackMaxMs: round(acks.maxMs, 2),
    flushP50Ms: round(flushes.percentile(0.5), 2),
    flushP99Ms: round(flushes.percentile(0.99), 2),
    flushMaxMs: round(flushes.maxMs, 2),
    generatorCpuMicrosPerEvent: round(events > 0 ? cpuMicros / events : 0, 2),
    generatorLoopDelayP99Ms: round(Math.max(...windows.map((window) => window.loopDelayP99Ms)), 1),
  };
}

function histogramOf(all: readonly WindowMeasures["acks"][]): LatencyHistogram {
  const histogram = new LatencyHistogram();
  for (const counts of all) histogram.add(counts);
  return histogram;
}

function sum<T>(all: readonly T[], value: (one: T) => number): number {
  return all.reduce((total, one) => total + value(one), 0);
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
