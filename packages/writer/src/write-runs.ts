import type { Clock } from "@millrace/base/clock";
import type { Random } from "@millrace/base/random";
import type { InvocationFact } from "@millrace/proto/channels";
import { type IInvocationPatch, Rows } from "@millrace/proto/pipeline";
import {
  type DerivedRows,
  type DerivedTable,
  derivedLaws,
  derivedTables,
  rowsFor,
} from "./derived-tables.ts";
import { invocationFact } from "./facts.ts";
import type { FencedRun, KnownBatch } from "./fence-batches.ts";
import {
  mergeByKey,
  mergePatches,
  mergeTargets,
  mergeTestResults,
  mergeTestSummaries,
  targetKey,
  testResultKey,
  testSummaryKey,
} from "./merge-rows.ts";
import type {
  AttemptSummary,
  CommitTx,
  DeadLetter,
  EventSegmentRow,
  InvocationChange,
  InvocationEnd,
  LogSegmentRow,
  NamedSetBlockRow,
  OfAttempt,
  OutboxRow,
} from "./store.ts";

/** Raw events, log text and named sets of what passed the fence. */
export async function writeSegments(tx: CommitTx, runs: readonly FencedRun[]): Promise<void> {
  const batches = runs.flatMap((run) => run.batches);
  const events = batches.map(eventSegment);
  const log = batches.flatMap(logSegment);
  if (events.length > 0) await tx.writeEventSegments(events);
  if (log.length > 0) await tx.writeLogSegments(log);
  const sets = batches.flatMap(namedSetBlocks);
  if (sets.length > 0) await tx.writeNamedSets(sets);
}

/** Attempts whose state the rows have changed. */
export interface WrittenRows {
  readonly resumed: readonly AttemptSummary[];
  readonly finished: readonly AttemptSummary[];
}

/**
 * Derived rows of what passed the fence, one statement a table, always in the same order of tables, so that no two
 * transactions wait for each other. The statements are sent without waiting for the answers in between.
 */
export async function writeRows(tx: CommitTx, runs: readonly FencedRun[]): Promise<WrittenRows> {
  const batches = runs.flatMap((run) => run.batches);
  const rows = <R>(pick: (batch: KnownBatch) => readonly R[] | null | undefined): OfAttempt<R>[] =>
    batches.flatMap((batch) =>
      batch.task.withoutRows ? [] : (pick(batch) ?? []).map((row) => ({ attemptId: batch.attemptId, row })),
    );
  const targets = rows((b) => b.batch.message.rows?.targets);
  const results = rows((b) => b.batch.message.rows?.testResults);
  const summaries = rows((b) => b.batch.message.rows?.testSummaries);
  const changes = runs.flatMap(invocationChange);
  const ends = runs.flatMap(invocationEnd);
  const swept = runs.filter((run) => run.position.swept).map((run) => run.attemptId);
  const letters = batches.flatMap(deadLetter);

  const written: Promise<unknown>[] = [];
  const add = <R>(list: readonly R[], write: (list: readonly R[]) => Promise<unknown>): void => {
    if (list.length > 0) written.push(write(list));
  };
  add(mergeByKey(targets, { key: targetKey, merge: mergeTargets }), (list) => tx.upsertTargets(list));
  add(mergeByKey(results, { key: testResultKey, merge: mergeTestResults }), (list) =>
    tx.upsertTestResults(list),
  );
  add(mergeByKey(summaries, { key: testSummaryKey, merge: mergeTestSummaries }), (list) =>
    tx.upsertTestSummaries(list),
  );
  for (const table of derivedTables) written.push(...writeDerived(tx, table, batches));
  add(changes, (list) => tx.patchInvocations(list));
  const reopened = swept.length > 0 ? tx.reopenInvocations(swept) : Promise.resolve([]);
  const ended = ends.length > 0 ? tx.endInvocations(ends) : Promise.resolve([]);
  add(letters, (list) => tx.appendDeadLetters(list));
  const [resumed, finished] = await Promise.all([reopened, ended, ...written]);
  return { resumed, finished };
}

function writeDerived<T extends DerivedTable>(
  tx: CommitTx,
  table: T,
  batches: readonly KnownBatch[],
): Promise<void>[] {
  const rows: OfAttempt<DerivedRows[T]>[] = [];
  for (const { task, batch, attemptId } of batches) {
    if (task.withoutRows !== undefined) continue;
    for (const row of rowsFor(table, batch.message.rows)) rows.push({ attemptId, row });
  }
  return rows.length === 0 ? [] : [tx.writeDerived(table, mergeByKey(rows, derivedLaws[table]))];
}

/** What happened to attempts, for those who listen. */
export async function writeFacts(
  tx: CommitTx,
  what: WrittenRows & { started: readonly AttemptSummary[] },
  world: { clock: Clock; random: Random },
): Promise<void> {
  const facts = [
    ...outboxRows("started", what.started, world),
    ...outboxRows("resumed", what.resumed, world),
    ...outboxRows("finished", what.finished, world),
  ];
  if (facts.length > 0) await tx.appendOutbox(facts);
}

function outboxRows(
  fact: InvocationFact,
  about: readonly AttemptSummary[],
  world: { clock: Clock; random: Random },
): OutboxRow[] {
  return about.map((summary) => invocationFact(fact, summary, world));
}

function eventSegment({ attemptId, batch }: KnownBatch): EventSegmentRow {
  const { events } = batch.message;
  return {
    attemptId,
    firstSeq: batch.first,
    lastSeq: batch.last,
    rawBytes: events?.rawBytes ?? 0,
    ...whereBytesLie(events),
  };
}

function logSegment({ attemptId, batch }: KnownBatch): LogSegmentRow[] {
  const { log } = batch.message;
  if (!log?.byteCount) return [];
  return [
    {
      attemptId,
      firstByte: log.firstByte ?? 0,
      byteCount: log.byteCount,
      firstLine: log.firstLine ?? 0,
      lineCount: log.lineCount ?? 0,
      ...whereBytesLie(log),
    },
  ];
}

function namedSetBlocks({ attemptId, batch, task }: KnownBatch): NamedSetBlockRow[] {
  const blocks = task.withoutRows === undefined ? (batch.message.rows?.namedSets ?? []) : [];
  return blocks.map((block, part) => ({ attemptId, firstSeq: batch.first, part, block }));
}

function whereBytesLie(segment: { data?: Uint8Array | null; stagedKey?: string | null } | null | undefined): {
  data: Uint8Array | undefined;
  stagedKey: string | undefined;
} {
  if (segment?.stagedKey) return { data: undefined, stagedKey: segment.stagedKey };
  return { data: segment?.data ?? new Uint8Array(0), stagedKey: undefined };
}

function invocationChange(run: FencedRun): InvocationChange[] {
  let patch: IInvocationPatch = {};
  let undecoded = 0;
  for (const { task, batch } of run.batches) {
    undecoded += batch.message.undecoded ?? 0;
    const next = batch.message.rows?.invocation;
    if (next && task.withoutRows === undefined) patch = mergePatches(patch, next);
  }
  const partial = run.batches.some(({ task }) => task.withoutRows !== undefined);
  if (!hasContent(patch) && undecoded === 0 && !partial) return [];
  return [{ attemptId: run.attemptId, patch, undecoded, partial }];
}

function hasContent(patch: IInvocationPatch): boolean {
  return Object.values(patch).some((value) => (Array.isArray(value) ? value.length > 0 : value != null));
}

function invocationEnd(run: FencedRun): InvocationEnd[] {
  const last = run.batches.at(-1);
  if (last === undefined || !run.batches.some(({ batch }) => batch.message.endsStream)) return [];
  const carry = last.batch.message.carry;
  const { attemptId } = run;
  return [
    { attemptId, eventCount: last.last, logBytes: carry?.logBytes ?? 0, logLines: carry?.logLines ?? 0 },
  ];
}

function deadLetter(known: KnownBatch): DeadLetter[] {
  const { withoutRows } = known.task;
  if (withoutRows === undefined) return [];
  const { rows } = known.batch.message;
  return [
    {
      key: known.batch.key,
      attemptId: known.attemptId,
      first: known.first,
      last: known.last,
      outcome: "partial",
      sqlState: withoutRows.sqlState,
      cause: withoutRows.message,
      rows: rows ? Rows.encode(rows).finish() : new Uint8Array(0),
    },
  ];
}
