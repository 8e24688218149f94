import type { InvocationStatus } from "@millrace/db/schema/invocations";
import type {
  IInvocationPatch,
  INamedSetBlock,
  ITargetRow,
  ITestResultRow,
  ITestSummaryRow,
} from "@millrace/proto/pipeline";
import type { DerivedRows, DerivedTable } from "./derived-tables.ts";

/**
 * The writer's port to the database: one transaction, and in it exactly the statements that a group needs. Data
 * in, data out; owners and HMACs are lower-case hex. The simulation implements it with rows in memory.
 */
export interface CommitStore {
  /**
   * Runs `work` and commits. Fails with a `MillraceError`: remedy `reject` when the same data fail again
   * (`code` is the SQLSTATE), else `retry`; `isInDoubt` of db/in-doubt.ts tells a COMMIT without an answer.
   */
  transact<T>(work: (tx: CommitTx) => Promise<T>): Promise<T>;
}

export interface CommitTx {
  /** Locks all attempts of each invocation; what another transaction holds is skipped and told by `busy`. */
  lockAttempts(keys: readonly StreamKey[]): Promise<LockedKey[]>;
  /** Inserts position and invocation rows. What is missing from the answer was inserted by another writer. */
  insertAttempts(attempts: readonly NewAttempt[]): Promise<InsertedAttempt[]>;
  /** Gives locked attempts to a new owner. */
  takeOver(attempts: readonly TakeOver[]): Promise<void>;
  /** Moves locked positions over events that are lost, and records which. */
  recordHoles(holes: readonly Hole[]): Promise<void>;
  /** Notes that an owner's connection was closed; another owner's is left alone. */
  releaseStreams(releases: readonly Release[]): Promise<void>;
  /** Locks positions; what another transaction holds is skipped and told by `busy`. */
  lockPositions(attemptIds: readonly number[]): Promise<LockedPosition[]>;
  /**
   * The fence: advances each locked position whose owner and last sequence number fit, and answers those. A
   * swept attempt is not swept any more, an ended one is finished.
   */
  advanceFence(rows: readonly FenceRow[]): Promise<FenceWinner[]>;
  writeEventSegments(segments: readonly EventSegmentRow[]): Promise<void>;
  writeLogSegments(segments: readonly LogSegmentRow[]): Promise<void>;
  writeNamedSets(blocks: readonly NamedSetBlockRow[]): Promise<void>;
  /** One row per key; merged into what is stored as merge-rows.ts says. */
  upsertTargets(rows: readonly OfAttempt<ITargetRow>[]): Promise<void>;
  upsertTestResults(rows: readonly OfAttempt<ITestResultRow>[]): Promise<void>;
  upsertTestSummaries(rows: readonly OfAttempt<ITestSummaryRow>[]): Promise<void>;
  /** The same for the tables of derived-tables.ts. */
  writeDerived<T extends DerivedTable>(table: T, rows: readonly OfAttempt<DerivedRows[T]>[]): Promise<void>;
  patchInvocations(patches: readonly InvocationChange[]): Promise<void>;
  /** Makes swept attempts run again. */
  reopenInvocations(attemptIds: readonly number[]): Promise<AttemptSummary[]>;
  /** Writes final status and totals from the rows as they stand. */
  endInvocations(ends: readonly InvocationEnd[]): Promise<AttemptSummary[]>;
  appendOutbox(facts: readonly OutboxRow[]): Promise<void>;
  appendDeadLetters(letters: readonly DeadLetter[]): Promise<void>;
}

export interface StreamKey {
  readonly project: string;
  readonly invocationId: string;
}

/** An attempt of the invocation that is to be opened. */
export interface Candidate {
  readonly attemptId: number;
  readonly attempt: number;
  /** "" when event 1 was never seen. */
  readonly hmac: string;
  readonly owner: string;
  readonly buildId: string;
  readonly committed: number;
  readonly finished: boolean;
  /** Its end was committed so lately that its uploader may still not know. */
  readonly endedRecently: boolean;
  /** Not finished, its owner's connection not reported closed, its node's lease valid. */
  readonly live: boolean;
  /** Closed by the sweep, and open to who comes back. */
  readonly swept: boolean;
  /** Encoded `Carry`; empty at the start. */
  readonly carry: Uint8Array;
}

export interface LockedKey {
  readonly key: StreamKey;
  /** Some attempt is held by another transaction: `candidates` is not the whole truth. */
  readonly busy: boolean;
  readonly candidates: readonly Candidate[];
}

export interface NewAttempt {
  readonly key: StreamKey;
  readonly attempt: number;
  readonly owner: string;
  readonly hmac: string;
  readonly buildId: string;
  readonly node: string;
}

export interface InsertedAttempt {
  readonly key: StreamKey;
  readonly attemptId: number;
}

export interface TakeOver {
  readonly attemptId: number;
  readonly owner: string;
  readonly node: string;
}

/** Missing events `first` … `last` of an attempt. */
export interface Hole {
  readonly attemptId: number;
  readonly first: number;
  readonly last: number;
}

export interface Release {
  readonly attemptId: number;
  readonly owner: string;
}

export interface Position {
  readonly owner: string;
  readonly committed: number;
  readonly finished: boolean;
  readonly swept: boolean;
}

export interface LockedPosition {
  readonly attemptId: number;
  /** `unknown`: there is no such attempt. */
  readonly state: "locked" | "busy" | "unknown";
  /** Only when `locked`. */
  readonly position?: Position;
}

export interface FenceRow {
  readonly attemptId: number;
  readonly owner: string;
  readonly first: number;
  readonly last: number;
  /** Encoded `Carry`; empty to leave the stored one. */
  readonly carry: Uint8Array;
  readonly ends: boolean;
}

export interface FenceWinner {
  readonly attemptId: number;
  readonly owner: string;
}

/** `data` or, when the bytes lie in the blob store, `stagedKey`. */
export interface EventSegmentRow {
  readonly attemptId: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly rawBytes: number;
  readonly data: Uint8Array | undefined;
  readonly stagedKey: string | undefined;
}

export interface LogSegmentRow {
  readonly attemptId: number;
  readonly firstByte: number;
  readonly byteCount: number;
  readonly firstLine: number;
  readonly lineCount: number;
  readonly data: Uint8Array | undefined;
  readonly stagedKey: string | undefined;
}

/** Block `part` of the named sets of the batch that begins with event `firstSeq`. */
export interface NamedSetBlockRow {
  readonly attemptId: number;
  readonly firstSeq: number;
  readonly part: number;
  readonly block: INamedSetBlock;
}

export interface OfAttempt<R> {
  readonly attemptId: number;
  readonly row: R;
}

export interface InvocationChange {
  readonly attemptId: number;
  readonly patch: IInvocationPatch;
  /** Events to add to those that could not be decoded. */
  readonly undecoded: number;
  readonly partial: boolean;
}

export interface InvocationEnd {
  readonly attemptId: number;
  readonly eventCount: number;
  readonly logBytes: number;
  readonly logLines: number;
}

/** What a fact about an attempt tells. Times are milliseconds since the epoch. */
export interface AttemptSummary {
  readonly key: StreamKey;
  readonly attemptId: number;
  readonly attempt: number;
  readonly buildId: string;
  readonly status: InvocationStatus;
  readonly lastEventSeq: number;
  readonly command: string | null;
  readonly exitCode: number | null;
  readonly exitCodeName: string | null;
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
}

export interface OutboxRow {
  readonly project: string;
  readonly subject: string;
  /** A CloudEvents envelope. */
  readonly event: Readonly<Record<string, unknown>>;
}

export interface DeadLetter {
  readonly key: StreamKey;
  /** 0 when not even the attempt could be decided. */
  readonly attemptId: number;
  readonly first: number;
  readonly last: number;
  readonly outcome: "partial" | "rejected";
  readonly sqlState: string;
  readonly cause: string;
  /** Encoded `Rows` that were left out. */
  readonly rows: Uint8Array;
}
