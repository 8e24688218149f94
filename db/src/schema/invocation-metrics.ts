import { pgTable } from "drizzle-orm/pg-core";
import { bytea, int8 } from "./column-types.ts";

/** What BuildMetrics said: the numbers of lists and trends as columns, and all groups as they were sent. */
export const invocationMetrics = pgTable("invocation_metrics", {
  attemptId: int8("attempt_id").primaryKey(),
  actionsCreated: int8("actions_created"),
  actionsExecuted: int8("actions_executed"),
  remoteCacheHits: int8("remote_cache_hits"),
  actionCacheHits: int8("action_cache_hits"),
  actionCacheMisses: int8("action_cache_misses"),
  targetsLoaded: int8("targets_loaded"),
  targetsConfigured: int8("targets_configured"),
  packagesLoaded: int8("packages_loaded"),
  cpuTimeMs: int8("cpu_time_ms"),
  wallTimeMs: int8("wall_time_ms"),
  analysisPhaseMs: int8("analysis_phase_ms"),
  executionPhaseMs: int8("execution_phase_ms"),
  criticalPathMs: int8("critical_path_ms"),
  usedHeapBytes: int8("used_heap_bytes"),
  peakHeapBytes: int8("peak_heap_bytes"),
  bytesSent: int8("bytes_sent"),
  bytesReceived: int8("bytes_received"),
  /** Output artifacts seen. */
  outputBytes: int8("output_bytes"),
  outputCount: int8("output_count"),
  /** `build_event_stream.BuildMetrics`; null when it has more than 256 KB. */
  groups: bytea("groups"),
});
