import { expect, test } from "vitest";
import { build_event_stream } from "../../gen/bep.js";
import { isMalformed } from "../../wire/field-scanner.ts";
import { readKind } from "../kind.ts";
import { readMetrics } from "./metrics.ts";

test("each number comes from its own field", () => {
  const bytes = build_event_stream.BuildEvent.encode({
    buildMetrics: {
      actionSummary: {
        ...{
          actionsCreated: 1,
          actionsExecuted: 2,
          actionsCreatedNotIncludingAspects: 90,
          remoteCacheHits: 3,
        },
        actionCacheStatistics: { sizeInBytes: 91, hits: 4, misses: 5 },
      },
      targetMetrics: { targetsLoaded: 6, targetsConfigured: 7, targetsConfiguredNotIncludingAspects: 92 },
      packageMetrics: { packagesLoaded: 8 },
      timingMetrics: {
        ...{ cpuTimeInMs: 9, wallTimeInMs: 10, analysisPhaseTimeInMs: 11, executionPhaseTimeInMs: 12 },
        actionsExecutionStartInMs: 93,
      },
    },
  }).finish();
  const event = readKind({ bytes, from: 0, to: bytes.length });
  if (isMalformed(event)) throw new Error(event.reason);
  expect(readMetrics(event)).toEqual({
    ...{
      actionsCreated: 1,
      actionsExecuted: 2,
      remoteCacheHits: 3,
      actionCacheHits: 4,
      actionCacheMisses: 5,
    },
    ...{ targetsLoaded: 6, targetsConfigured: 7, packagesLoaded: 8 },
    ...{ cpuTimeMs: 9, wallTimeMs: 10, analysisPhaseTimeMs: 11, executionPhaseTimeMs: 12 },
  });
});
