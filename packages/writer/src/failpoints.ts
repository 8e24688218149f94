import type { FailPoint, FailPoints } from "@millrace/base/fail-points";

/** Places in a commit and in the outbox at which a test can have the process killed. */
export const commitPointNames = [
  "after-fence",
  "after-copy",
  "commit-sent",
  "commit-answered",
  "reply-sent",
  "facts-taken",
] as const;

/** The same in compaction and in the dropping of days. */
export const storagePointNames = ["archive-written", "archive-verified", "day-detached"] as const;

export const failPointNames = [...commitPointNames, ...storagePointNames] as const;

type Name = (typeof failPointNames)[number];
export type WriterFailPoint = FailPoint<Name>;
export type WriterFailPoints = FailPoints<Name>;
