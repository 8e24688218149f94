import { LatencyHistogram } from "../load/latency-histogram.ts";
import type { AckSlice } from "../load/load-meter.ts";
import type { Silence } from "../load/shard-silences.ts";

/** Milliseconds of the epoch. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Acks of the slices that touch none of the spans; of a slice that a span's edge cuts nobody knows which it covers. */
export function acksOutside(slices: readonly AckSlice[], spans: readonly Span[]): LatencyHistogram {
  return histogramOf(slices.filter((slice) => !spans.some((span) => overlaps(slice, span))));
}

/** Acks of all slices that touch the span. */
export function acksWithin(slices: readonly AckSlice[], span: Span): LatencyHistogram {
  return histogramOf(slices.filter((slice) => overlaps(slice, span)));
}

/** Acks that were on their way when the writer left may still arrive so long after it. */
const onTheirWayMs = 250;

/**
 * How long after a writer left at `leftMs` something that was due in one of its shards had to wait for the shard's next
 * ack, at most. Silences that nobody noted are shorter than what is noted: then 0, which means "less than that".
 */
export function nextCommitMs(leftMs: number, silences: readonly Silence[]): number {
  const its = silences.filter(({ fromMs, toMs }) => fromMs <= leftMs + onTheirWayMs && toMs > leftMs);
  return Math.max(0, ...its.map(({ dueMs, toMs }) => Math.round(toMs - Math.max(dueMs, leftMs))));
}

function overlaps(a: Span, b: Span): boolean {
  return a.fromMs < b.toMs && b.fromMs < a.toMs;
}

function histogramOf(slices: readonly AckSlice[]): LatencyHistogram {
  const histogram = new LatencyHistogram();
  for (const { acks } of slices) histogram.add(acks);
  return histogram;
}
