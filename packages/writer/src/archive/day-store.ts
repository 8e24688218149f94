import type { JobLease } from "../jobs.ts";

/** A partition of a past day. */
export interface DayPartition {
  readonly table: "event_segments" | "log_segments";
  readonly name: string;
  /** `2026-12-01` */
  readonly day: string;
  /** `pending`: a DETACH was begun and not finished; `detached`: it stands alone and is to be dropped. */
  readonly state: "attached" | "pending" | "detached";
}

/** An attempt that has segments in a day which no archive covers. */
export interface Leftover {
  readonly attemptId: number;
  readonly hasEnded: boolean;
}

/** The port to the database of the job that drops days. */
export interface DayStore {
  /** Partitions of the days before yesterday (`keepDays` 1), oldest first. */
  findPast(keepDays: number): Promise<DayPartition[]>;
  /** Up to 100 of them, behind `after`, in order of their ids. */
  findLeftovers(partition: DayPartition, after: number): Promise<Leftover[]>;
  /** Moves what no archive covers into today's partition, in small transactions. Answers the number of segments. */
  moveLeftovers(partition: DayPartition, how: { attemptId: number; lease: JobLease }): Promise<number>;
  /** DETACH CONCURRENTLY, or what is left of one. Waits for no lock longer than 200 ms. */
  detach(partition: DayPartition): Promise<void>;
  /** DROP of a detached partition; waits for no lock longer than 200 ms. */
  drop(partition: DayPartition, lease: JobLease): Promise<void>;
}
