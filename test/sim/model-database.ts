import type { ITargetRow, ITestResultRow } from "@millrace/proto/pipeline";
import type {
  EventSegmentRow,
  InvocationChange,
  InvocationEnd,
  LogSegmentRow,
  NewAttempt,
  OutboxRow,
} from "@millrace/writer/store";
import type { SimProcess } from "./script.ts";

/** A row of `stream_positions`. */
export interface PositionRow {
  readonly attemptId: number;
  readonly project: string;
  readonly invocationId: string;
  readonly attempt: number;
  readonly hmac: string;
  readonly buildId: string;
  owner: string;
  node: string;
  committed: number;
  carry: Uint8Array;
  isReleased: boolean;
  finished: boolean;
  swept: boolean;
}

/** What an attempt has besides its position. */
export interface AttemptRows {
  readonly events: EventSegmentRow[];
  readonly log: LogSegmentRow[];
  readonly targets: Map<string, ITargetRow>;
  readonly tests: Map<string, ITestResultRow>;
  readonly patches: InvocationChange[];
  end: InvocationEnd | undefined;
}

/** Rows in memory, with row locks, unique keys and transactions that happen wholly or not at all. */
export class ModelDatabase {
  readonly positions = new Map<number, PositionRow>();
  readonly rows = new Map<number, AttemptRows>();
  readonly outbox: OutboxRow[] = [];
  /** Locks of rows that exist and of keys that are being inserted, by who holds them. */
  private readonly locks = new Map<string, Transaction>();
  private readonly active = new Set<Transaction>();
  private nextAttemptId = 1;

  begin(process: SimProcess): Transaction {
    const transaction = new Transaction(this, process);
    this.active.add(transaction);
    return transaction;
  }

  /** The server notices that a client is gone: its transactions have not happened. */
  abortTransactionsOf(process: SimProcess): void {
    for (const transaction of [...this.active]) {
      if (transaction.process === process) this.end(transaction);
    }
  }

  isActive(transaction: Transaction): boolean {
    return this.active.has(transaction);
  }

  isHeldByOther(lock: string, transaction: Transaction): boolean {
    const holder = this.locks.get(lock);
    return holder !== undefined && holder !== transaction;
  }

  hold(lock: string, transaction: Transaction): void {
    this.locks.set(lock, transaction);
  }

  takeAttemptId(): number {
    return this.nextAttemptId++;
  }

  /** Applies what the transaction wrote, then lets go of its locks. */
  commit(transaction: Transaction): void {
    for (const [attemptId, row] of transaction.positions) this.positions.set(attemptId, row);
    for (const write of transaction.writes) write();
    this.end(transaction);
  }

  end(transaction: Transaction): void {
    this.active.delete(transaction);
    for (const [lock, holder] of [...this.locks]) if (holder === transaction) this.locks.delete(lock);
  }

  rowsOf(attemptId: number): AttemptRows {
    const existing = this.rows.get(attemptId);
    if (existing !== undefined) return existing;
    const made: AttemptRows = {
      events: [],
      log: [],
      targets: new Map(),
      tests: new Map(),
      patches: [],
      end: undefined,
    };
    this.rows.set(attemptId, made);
    return made;
  }
}

/** One transaction: position rows as it has changed them, and what it will write elsewhere. */
export class Transaction {
  readonly process: SimProcess;
  readonly positions = new Map<number, PositionRow>();
  readonly writes: (() => void)[] = [];
  private readonly database: ModelDatabase;

  constructor(database: ModelDatabase, process: SimProcess) {
    this.database = database;
    this.process = process;
  }

  /** The row as this transaction sees it: its own change, else what is committed. */
  read(attemptId: number): PositionRow | undefined {
    return this.positions.get(attemptId) ?? this.database.positions.get(attemptId);
  }

  change(attemptId: number, change: Partial<PositionRow>): void {
    const row = this.read(attemptId);
    if (row !== undefined) this.positions.set(attemptId, { ...row, ...change });
  }

  insert(attempt: NewAttempt): number {
    const attemptId = this.database.takeAttemptId();
    this.positions.set(attemptId, {
      attemptId,
      project: attempt.key.project,
      invocationId: attempt.key.invocationId,
      attempt: attempt.attempt,
      hmac: attempt.hmac,
      buildId: attempt.buildId,
      owner: attempt.owner,
      node: attempt.node,
      committed: 0,
      carry: new Uint8Array(0),
      isReleased: false,
      finished: false,
      swept: false,
    });
    return attemptId;
  }
}
