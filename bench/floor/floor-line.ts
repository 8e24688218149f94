import type { LoadFigures, Origin } from "../scenario/result-line.ts";

/** What this machine could do at best, as it is appended to `bench/results/floor.jsonl`. */
export type FloorLine = FloorOrigin & (AckFigures | CopyFigures);

/** `floor-ack-tiny`, `floor-copy-real`, … */
export type FloorOrigin = Omit<Origin, "plan"> & { readonly plan: Readonly<Record<string, number>> };

/** The generator against a server that acknowledges at once and stores nothing. */
export interface AckFigures extends LoadFigures {
  readonly cpuMicrosPerEvent: Readonly<Record<string, number>>;
}

/** The events' bytes, compressed as Millrace does, by COPY into a bare table with a commit for each group. */
export interface CopyFigures {
  readonly eventsPerSecond: number;
  readonly groupsPerSecond: number;
  readonly eventsPerGroup: number;
  readonly groupCommitP50Ms: number;
  readonly groupCommitP99Ms: number;
  readonly walBytesPerEvent: number;
  readonly storedBytesPerEvent: number;
  readonly checkpoints: number;
  readonly cpuMicrosPerEvent: Readonly<Record<string, number>>;
}
