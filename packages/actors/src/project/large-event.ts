import { countLineFeeds } from "../core/batch-builder.ts";
import type { LargeProjection, ProjectedLarge } from "../core/effects.ts";
import { releaseScannedBytes } from "../scrub/scan-text.ts";
import { Projector } from "./projector.ts";
import { RowsBuilder } from "./rows-builder.ts";

/** A large event as it is to be stored, not compressed yet. */
export interface LargeParts extends Omit<ProjectedLarge, "bodies"> {
  readonly bytes: Uint8Array;
  readonly log: readonly Uint8Array[];
}

/** Projects one event by itself, as a task does with events above 1 MB. What it would hold back is masked at once. */
export function projectLargeEvent(large: LargeProjection): LargeParts {
  const rows = new RowsBuilder(large.sequence);
  const log: Uint8Array[] = [];
  let stored: { bytes: Uint8Array; endsStream: boolean; undecoded: boolean } | undefined;
  const projector = new Projector(large.carry, () => ({
    rows,
    log: (bytes) => {
      if (bytes.length > 0) log.push(bytes);
    },
    event: (bytes, facts) => {
      stored = { bytes, ...facts };
    },
  }));
  projector.offer(large.bytes);
  projector.releaseHeld();
  releaseScannedBytes();
  return {
    sequence: large.sequence,
    bytes: stored?.bytes ?? large.bytes,
    log,
    logLines: log.reduce((lines, chunk) => lines + countLineFeeds(chunk), 0),
    changedLabels: rows.changedLabels(),
    rows: rows.take(),
    ...projector.carry(),
    endsStream: stored?.endsStream ?? false,
    undecoded: stored?.undecoded ?? true,
  };
}
