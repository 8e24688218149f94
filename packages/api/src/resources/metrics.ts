import { z } from "@hono/zod-openapi";
import type { MetricsRow } from "../queries/said.ts";
import { keptJson } from "../read/bep-json.ts";

const number = z.number().int().nullable();

/** What Bazel counted and timed. Null where it said nothing. */
export const metricsSchema = z
  .object({
    actionsCreated: number,
    actionsExecuted: number,
    remoteCacheHits: number,
    actionCacheHits: number,
    actionCacheMisses: number,
    targetsLoaded: number,
    targetsConfigured: number,
    packagesLoaded: number,
    cpuTimeMs: number,
    wallTimeMs: number,
    analysisPhaseMs: number,
    executionPhaseMs: number,
    criticalPathMs: number,
    usedHeapBytes: number,
    peakHeapBytes: number,
    bytesSent: number,
    bytesReceived: number,
    outputBytes: number,
    outputCount: number,
    groups: z.unknown().openapi({
      type: "object",
      description: "build_event_stream.BuildMetrics as JSON, every group; null when it was too large to keep",
    }),
  })
  .openapi("Metrics");

export function presentMetrics(row: MetricsRow): z.infer<typeof metricsSchema> {
  const { attemptId: _, groups, ...numbers } = row;
  return { ...numbers, groups: keptJson("BuildMetrics", groups) };
}
