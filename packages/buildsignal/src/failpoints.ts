import type { FailPoint, FailPoints } from "@millrace/base/fail-points";

/** Places at which a test can have the process killed: the rows of the crash tables in SPEC.md. */
export const failPointNames = [
  "uri-claimed",
  "slot-claimed",
  "request-marked",
  "build-published",
  "triggered",
  "build-stored",
  "status-stored",
  "slot-released",
  "outcome-stored",
  "record-published",
  "settled",
  "fact-stored",
  "bookmark-moved",
  "promoted",
] as const;
type Name = (typeof failPointNames)[number];
export type SignalFailPoint = FailPoint<Name>;
export type SignalFailPoints = FailPoints<Name>;
