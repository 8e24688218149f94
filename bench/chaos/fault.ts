/** What is done to Millrace while builds are uploaded. */
export const faultNames = [
  "kill-writer",
  "kill-ingest",
  "kill-nats",
  "kill-postgres",
  "stop-writer",
  "stop-ingest",
  "stop-nats",
  "stop-postgres",
  "roll",
  "cut",
  "crash-thread",
] as const;

export type FaultName = (typeof faultNames)[number];

/** A fault that happened. `fromMs` and `toMs` (of the epoch) are its own time, not that of its consequences. */
export interface Fault {
  readonly name: FaultName;
  readonly fromMs: number;
  /** What was killed is back, what was stopped goes on. */
  readonly toMs: number;
  /** Processes that were killed or told to end, and when. */
  readonly ended: readonly { readonly name: string; readonly atMs: number }[];
  /** Processes that died until the next fault without having been told to. */
  readonly alsoDied: readonly string[];
  /** Processes that did not end in time when told to, and were killed. */
  readonly overdue: readonly string[];
}
