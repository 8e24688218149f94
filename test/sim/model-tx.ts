import type { ITargetRow, ITestResultRow } from "@millrace/proto/pipeline";
import type {
  AttemptSummary,
  Candidate,
  CommitTx,
  DeadLetter,
  EventSegmentRow,
  FenceRow,
  FenceWinner,
  Hole,
  InsertedAttempt,
  InvocationChange,
  InvocationEnd,
  LockedKey,
  LockedPosition,
  LogSegmentRow,
  NewAttempt,
  OfAttempt,
  OutboxRow,
  Release,
  StreamKey,
  TakeOver,
} from "@millrace/writer/store";
import type { ModelDatabase, PositionRow, Transaction } from "./model-database.ts";

/** The statements of one transaction on the model database; each costs a round trip. */
export class ModelTx implements CommitTx {
  private readonly database: ModelDatabase;
  private readonly transaction: Transaction;
  private readonly roundTrip: () => Promise<void>;

  constructor(on: {
    database: ModelDatabase;
    transaction: Transaction;
    roundTrip: () => Promise<void>;
  }) {
    this.database = on.database;
    this.transaction = on.transaction;
    this.roundTrip = on.roundTrip;
  }

  async lockAttempts(keys: readonly StreamKey[]): Promise<LockedKey[]> {
    await this.roundTrip();
    return keys.map((key) => {
      const rows = [...this.database.positions.values()].filter(
        (row) => row.project === key.project && row.invocationId === key.invocationId,
      );
      const free = rows.filter((row) => this.tryLock(row.attemptId));
      return { key, busy: free.length < rows.length, candidates: free.map((row) => candidateOf(row)) };
    });
  }

  async insertAttempts(attempts: readonly NewAttempt[]): Promise<InsertedAttempt[]> {
    const inserted: InsertedAttempt[] = [];
    // In the order of keys, as the statement does: two that wait for each other would wait for ever.
    const inOrder = [...attempts].sort((a, b) => (uniqueOf(a) < uniqueOf(b) ? -1 : 1));
    for (const attempt of inOrder) {
      await this.roundTrip();
      const unique = uniqueOf(attempt);
      // A unique key that another transaction is inserting is waited for, as PostgreSQL does.
      // Who is killed while it waits never comes back: it must not take the key, nobody would give it up.
      while (this.database.isHeldByOther(unique, this.transaction)) await this.roundTrip();
      if (this.exists(attempt)) continue;
      this.database.hold(unique, this.transaction);
      const attemptId = this.transaction.insert(attempt);
      this.database.hold(lockOf(attemptId), this.transaction);
      inserted.push({ key: attempt.key, attemptId });
    }
    return inserted;
  }

  async takeOver(attempts: readonly TakeOver[]): Promise<void> {
    await this.roundTrip();
    for (const { attemptId, owner, node } of attempts) {
      this.transaction.change(attemptId, { owner, node, isReleased: false });
    }
  }

  async recordHoles(holes: readonly Hole[]): Promise<void> {
    await this.roundTrip();
    for (const hole of holes) this.transaction.change(hole.attemptId, { committed: hole.last });
  }

  async releaseStreams(releases: readonly Release[]): Promise<void> {
    await this.roundTrip();
    for (const { attemptId, owner } of releases) {
      if (!this.tryLock(attemptId)) continue;
      if (this.transaction.read(attemptId)?.owner === owner) {
        this.transaction.change(attemptId, { isReleased: true });
      }
    }
  }

  async lockPositions(attemptIds: readonly number[]): Promise<LockedPosition[]> {
    await this.roundTrip();
    return attemptIds.map((attemptId) => {
      const row = this.transaction.read(attemptId);
      if (row === undefined) return { attemptId, state: "unknown" };
      if (!this.tryLock(attemptId)) return { attemptId, state: "busy" };
      const { owner, committed, finished, swept } = this.transaction.read(attemptId) ?? row;
      return { attemptId, state: "locked", position: { owner, committed, finished, swept } };
    });
  }

  async advanceFence(rows: readonly FenceRow[]): Promise<FenceWinner[]> {
    await this.roundTrip();
    return rows.flatMap((fence) => {
      const row = this.transaction.read(fence.attemptId);
      if (row === undefined || row.owner !== fence.owner || row.committed !== fence.first - 1) return [];
      this.transaction.change(fence.attemptId, {
        committed: fence.last,
        swept: false,
        finished: row.finished || fence.ends,
        ...(fence.carry.length > 0 ? { carry: fence.carry.slice() } : {}),
      });
      return [{ attemptId: fence.attemptId, owner: fence.owner }];
    });
  }

  async writeEventSegments(segments: readonly EventSegmentRow[]): Promise<void> {
    await this.write(() => {
      for (const segment of segments) this.database.rowsOf(segment.attemptId).events.push(segment);
    });
  }

  async writeLogSegments(segments: readonly LogSegmentRow[]): Promise<void> {
    await this.write(() => {
      for (const segment of segments) this.database.rowsOf(segment.attemptId).log.push(segment);
    });
  }

  async upsertTargets(rows: readonly OfAttempt<ITargetRow>[]): Promise<void> {
    await this.write(() => {
      for (const { attemptId, row } of rows) {
        this.database.rowsOf(attemptId).targets.set(`${row.label}|${row.configuration}`, row);
      }
    });
  }

  async upsertTestResults(rows: readonly OfAttempt<ITestResultRow>[]): Promise<void> {
    await this.write(() => {
      for (const { attemptId, row } of rows) this.database.rowsOf(attemptId).tests.set(`${row.label}`, row);
    });
  }

  async upsertTestSummaries(): Promise<void> {
    await this.roundTrip();
  }

  async writeNamedSets(): Promise<void> {
    await this.roundTrip();
  }

  async writeDerived(): Promise<void> {
    await this.roundTrip();
  }

  async patchInvocations(patches: readonly InvocationChange[]): Promise<void> {
    await this.write(() => {
      for (const patch of patches) this.database.rowsOf(patch.attemptId).patches.push(patch);
    });
  }

  async reopenInvocations(): Promise<AttemptSummary[]> {
    await this.roundTrip();
    return [];
  }

  async endInvocations(ends: readonly InvocationEnd[]): Promise<AttemptSummary[]> {
    await this.write(() => {
      for (const end of ends) this.database.rowsOf(end.attemptId).end = end;
    });
    return [];
  }

  async appendOutbox(facts: readonly OutboxRow[]): Promise<void> {
    await this.write(() => this.database.outbox.push(...facts));
  }

  async appendDeadLetters(letters: readonly DeadLetter[]): Promise<void> {
    await this.roundTrip();
    if (letters.length > 0) throw new Error(`a simulated batch became a dead letter: ${letters[0]?.cause}`);
  }

  private async write(write: () => void): Promise<void> {
    await this.roundTrip();
    this.transaction.writes.push(write);
  }

  private tryLock(attemptId: number): boolean {
    const lock = lockOf(attemptId);
    if (this.database.isHeldByOther(lock, this.transaction)) return false;
    this.database.hold(lock, this.transaction);
    return true;
  }

  private exists(attempt: NewAttempt): boolean {
    const rows = [...this.database.positions.values(), ...this.transaction.positions.values()];
    return rows.some(
      (row) =>
        row.project === attempt.key.project &&
        row.invocationId === attempt.key.invocationId &&
        row.attempt === attempt.attempt,
    );
  }
}

function lockOf(attemptId: number): string {
  return `attempt ${attemptId}`;
}

function candidateOf(row: PositionRow): Candidate {
  const { attemptId, attempt, hmac, owner, buildId, committed, finished, swept, carry } = row;
  return {
    attemptId,
    attempt,
    hmac,
    owner,
    buildId,
    committed,
    finished,
    swept,
    carry,
    endedRecently: finished,
    live: !finished && !row.isReleased,
  };
}

function uniqueOf({ key, attempt }: NewAttempt): string {
  return `${key.project}/${key.invocationId}#${attempt}`;
}
