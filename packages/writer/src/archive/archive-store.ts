import type { JobLease } from "../jobs.ts";

/** Some attempts in the order of their ids, and which of them are not in archives yet. */
export interface UnarchivedPage {
  /** Those of them that ended long enough ago. */
  readonly attemptIds: readonly number[];
  readonly lookedTo: number;
  readonly isLast: boolean;
  /** The first that runs or is not archived. */
  readonly firstOpen: number | undefined;
}

/** The next part of an attempt that is to be archived. */
export interface ArchivePlan {
  readonly project: string;
  readonly attemptId: number;
  readonly part: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly firstByte: number;
  readonly byteCount: number;
  readonly firstLine: number;
  readonly lineCount: number;
  readonly rawBytes: number;
  readonly events: readonly StoredPiece[];
  readonly log: readonly StoredPiece[];
}

/** A segment: its bytes, or where they lie. */
export interface StoredPiece {
  readonly first: number;
  readonly count: number;
  readonly rawBytes: number;
  readonly data: Uint8Array | undefined;
  readonly stagedKey: string | undefined;
}

export interface ArchiveRow extends Omit<ArchivePlan, "events" | "log"> {
  readonly size: number;
  readonly digest: Uint8Array;
  readonly frames: Uint8Array;
}

/** Compaction's port to the database. */
export interface ArchiveStore {
  /** Looks at the next attempts behind `after`. */
  findUnarchived(how: { after: number; endedForSeconds: number }): Promise<UnarchivedPage>;
  /** Undefined when the attempt runs or has nothing left; what is planned is bounded by bytes. */
  planNext(attemptId: number): Promise<ArchivePlan | undefined>;
  /** Writes the row. Fails with `lease-lost`, and with `attempt-gone` when retention was faster. */
  insert(row: ArchiveRow, lease: JobLease): Promise<void>;
}
