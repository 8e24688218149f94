import type { FailPoint, FailPoints } from "@millrace/base/fail-points";

/** Places on the way of a batch through the ingest process at which a test can have the process killed. */
export const failPointNames = [
  /** Compressed, and its bodies staged in the blob store where they are too large for a message. */
  "sealed",
  "batch-sent",
  /** Acknowledgements have been handed to the client's connection. */
  "acks-sent",
] as const;

type Name = (typeof failPointNames)[number];
export type IngestFailPoint = FailPoint<Name>;
export type IngestFailPoints = FailPoints<Name>;
