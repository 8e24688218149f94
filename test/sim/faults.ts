/** The faults that a run can meet; the suite asserts that in sum each was met often enough. */
export const faultKinds = [
  "request-lost",
  "reply-lost",
  "message-repeated",
  "message-late",
  "writer-crash",
  "front-door-crash",
  "node-stalled",
  "connection-cut",
  "commit-answer-lost",
  "commit-failed",
  "transaction-aborted",
] as const;

export type FaultKind = (typeof faultKinds)[number];

/** Counts of the faults of a run. */
export class FaultCounter {
  readonly counts: Record<FaultKind, number> = Object.fromEntries(
    faultKinds.map((kind) => [kind, 0]),
  ) as Record<FaultKind, number>;

  met(kind: FaultKind): void {
    this.counts[kind] += 1;
  }
}
