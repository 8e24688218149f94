import type { JobLease } from "../jobs.ts";

/** Something that was deleted from the tables and whose blobs are to be deleted now. */
export interface ExpiredArchive {
  readonly prefix: string;
  readonly attemptId: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** Lower-case hex. */
  readonly digest: string;
}

export interface ExpiredPage {
  readonly archives: readonly ExpiredArchive[];
  readonly attempts: number;
  /** Where the next page begins; undefined when all that are old enough were looked at. */
  readonly next: number | undefined;
}

/** Retention's port to the database. What runs is never touched, what is locked is left for another time. */
export interface RetentionStore {
  /** Marks archives of attempts that ended before their project's `raw_days` as expired, and empties their index. */
  expireRaw(after: number, lease: JobLease): Promise<ExpiredPage>;
  /** Deletes every row of attempts that ended before their project's `build_days`. */
  expireBuilds(after: number, lease: JobLease): Promise<ExpiredPage>;
  /** Deletes what lifecycle calls said of invocations of that age. Answers the number of rows. */
  expireLifecycle(lease: JobLease): Promise<number>;
  /** All projects' key prefixes. */
  prefixes(): Promise<string[]>;
  /** Those keys that a segment names. */
  stagedOwned(keys: readonly string[]): Promise<string[]>;
  /** Those archives that are there and have not expired, by attempt and digest. */
  archivesKept(of: readonly ArchiveName[]): Promise<ArchiveName[]>;
  /**
   * Locks the attempt that `key` names (or the one whose owner it names), looks whether a row names the blob, and runs
   * `remove` if none does: who would commit such a row waits for that. Answers whether it was removed.
   */
  removeUnowned(key: string, remove: () => Promise<void>): Promise<boolean>;
}

/** What the key of an archive tells. */
export interface ArchiveName {
  readonly attemptId: number;
  /** Lower-case hex. */
  readonly digest: string;
}

/** Undefined for a key of another kind. */
export function archiveNameOf(key: string): ArchiveName | undefined {
  const found = /\/archives\/(\d+)\/\d+-\d+-([0-9a-f]{64})$/.exec(key);
  return found === null ? undefined : { attemptId: Number(found[1]), digest: found[2] ?? "" };
}
