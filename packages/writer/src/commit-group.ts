import type { Clock } from "@millrace/base/clock";
import type { Random } from "@millrace/base/random";
import type { WriterFailPoints } from "./failpoints.ts";
import { advanceFence, type FencedRun, type KnownBatch, sortOutBatches } from "./fence-batches.ts";
import type { WriterMetrics } from "./metrics.ts";
import { type Opening, type OpenOutcome, openStreams } from "./open-streams.ts";
import type { AttemptSummary, CommitStore, CommitTx, LockedPosition, Release } from "./store.ts";
import {
  committedVerdict,
  openedVerdict,
  refusedVerdict,
  releasedVerdict,
  type Task,
  type Verdicts,
  waits,
} from "./verdict.ts";
import { writeFacts, writeRows, writeSegments } from "./write-runs.ts";

/** What a commit needs from its process. */
export interface CommitContext {
  readonly store: CommitStore;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether a stream may go on behind events that storage has lost. */
  readonly resumeWithHole: boolean;
  readonly points: WriterFailPoints;
  readonly metrics: WriterMetrics;
}

/**
 * One transaction for a group: which attempts the opening connections write, the fence, segments, rows, COMMIT;
 * then the notices. Fails as `CommitStore.transact` does, with nothing decided and nobody told.
 */
export async function commitGroup(tasks: readonly Task[], context: CommitContext): Promise<void> {
  const startedAt = context.clock.monotonic();
  // A notice leaves only after COMMIT was answered.
  const verdicts = await context.store.transact((tx) => writeGroup(tx, tasks, context));
  notify(verdicts, context.metrics);
  context.metrics.groupCommitted(tasks.length, context.clock.monotonic() - startedAt);
  await context.points.reach("reply-sent");
}

/** Tells what was decided, or why not. */
export function notify(verdicts: Verdicts, metrics: WriterMetrics): void {
  for (const [{ item }, verdict] of verdicts) {
    if (verdict.kind === "wait") item.wait = verdict.why;
    else item.answer(verdict.reply);
    metrics.decided(item, verdict);
  }
}

async function writeGroup(tx: CommitTx, tasks: readonly Task[], context: CommitContext): Promise<Verdicts> {
  const verdicts: Verdicts = new Map();
  // What has to be known before anything can be written is asked at the same time.
  const [opened, locked] = await Promise.all([
    openStreams(tx, openingsOf(tasks), context),
    lockPositions(tx, attemptsOf(tasks)),
  ]);
  const batches = knownBatches(tasks, { opened, verdicts });
  const positions = positionsNow(locked, opened);
  const runs = sortOutBatches({ batches, positions, verdicts });
  const released = releaseStreams(tx, { releases: releasesOf(tasks), positions, verdicts });

  // Nothing is waited for in between that need not be: each wait is a way to the database and back.
  const fenced = advanceFence(tx, runs);
  await context.points.reach("after-fence", fenced);
  const written = writeRows(tx, runs);
  // Last, and nothing behind them: no other statement may be sent while a COPY is on its way.
  const segments = writeSegments(tx, runs);
  await context.points.reach("after-copy", segments);
  const [, , changes] = await allDone([released, fenced, written, segments]);
  await writeFacts(tx, { ...changes, started: startedAttempts(opened, runs) }, context);
  for (const run of runs) judgeWritten(run, verdicts);
  return verdicts;
}

/** Waits for all, whether one fails or not, and fails as the first of the list that did. */
async function allDone<T extends readonly unknown[]>(
  all: {
    [K in keyof T]: Promise<T[K]>;
  },
): Promise<T> {
  await Promise.allSettled(all);
  return (await Promise.all(all)) as unknown as T;
}

/** The attempts that works name themselves. */
function attemptsOf(tasks: readonly Task[]): number[] {
  return tasks.flatMap(({ item: { work } }) =>
    work.kind === "release" || (work.kind === "batch" && work.open === undefined) ? [work.attemptId] : [],
  );
}

/** The locked positions, as they are after the take-overs of this transaction. */
function positionsNow(
  locked: readonly LockedPosition[],
  opened: ReadonlyMap<Task, OpenOutcome>,
): ReadonlyMap<number, LockedPosition> {
  const positions = new Map(locked.map((position) => [position.attemptId, position]));
  for (const outcome of opened.values()) {
    if (outcome.kind !== "opened") continue;
    const { attemptId } = outcome.opened;
    positions.set(attemptId, { attemptId, state: "locked", position: outcome.position });
  }
  return positions;
}

function openingsOf(tasks: readonly Task[]): Opening<Task>[] {
  return tasks.flatMap((task) => {
    const { work } = task.item;
    if (work.kind === "release" || work.open === undefined) return [];
    return [{ task, key: work.key, ask: work.open }];
  });
}

/** The batches whose attempt is known; what `open` alone decides gets its verdict here. */
function knownBatches(
  tasks: readonly Task[],
  from: { opened: ReadonlyMap<Task, OpenOutcome>; verdicts: Verdicts },
): KnownBatch[] {
  const batches: KnownBatch[] = [];
  for (const task of tasks) {
    const { work } = task.item;
    if (work.kind === "release") continue;
    const outcome = from.opened.get(task);
    if (outcome?.kind === "wait") from.verdicts.set(task, waits(outcome.why));
    else if (outcome?.kind === "refused") {
      from.verdicts.set(task, refusedVerdict(outcome.reason, outcome.message));
    } else if (work.kind === "open") {
      if (outcome !== undefined) from.verdicts.set(task, openedVerdict(outcome.opened));
    } else {
      const { first, last } = work;
      const attempt = outcome?.opened;
      const isFurtherOn = attempt !== undefined && attempt.committed >= first && attempt.committed < last;
      if (isFurtherOn) from.verdicts.set(task, openedVerdict(attempt));
      else {
        const attemptId = attempt?.attemptId ?? work.attemptId;
        batches.push({ task, batch: work, first, last, attemptId, opened: attempt });
      }
    }
  }
  return batches;
}

interface TaskOfRelease extends Release {
  readonly task: Task;
}

function releasesOf(tasks: readonly Task[]): TaskOfRelease[] {
  return tasks.flatMap((task) => {
    const { work } = task.item;
    return work.kind === "release" ? [{ task, attemptId: work.attemptId, owner: work.owner }] : [];
  });
}

async function lockPositions(tx: CommitTx, attemptIds: readonly number[]): Promise<LockedPosition[]> {
  return attemptIds.length === 0 ? [] : await tx.lockPositions([...new Set(attemptIds)]);
}

async function releaseStreams(
  tx: CommitTx,
  from: {
    releases: readonly TaskOfRelease[];
    positions: ReadonlyMap<number, LockedPosition>;
    verdicts: Verdicts;
  },
): Promise<void> {
  const isBusy = (one: TaskOfRelease): boolean => from.positions.get(one.attemptId)?.state === "busy";
  for (const one of from.releases) from.verdicts.set(one.task, isBusy(one) ? waits("busy") : releasedVerdict);
  const free = from.releases.filter((one) => !isBusy(one));
  if (free.length === 0) return;
  await tx.releaseStreams(free.map(({ attemptId, owner }) => ({ attemptId, owner })));
}

/** New attempts, as the fact `started` tells of them. */
function startedAttempts(
  opened: ReadonlyMap<Task, OpenOutcome>,
  runs: readonly FencedRun[],
): AttemptSummary[] {
  const summaries: AttemptSummary[] = [];
  for (const [{ item }, outcome] of opened) {
    if (outcome.kind !== "opened" || !outcome.isNew || item.work.kind === "release") continue;
    const { attemptId, attempt } = outcome.opened;
    const run = runs.find((one) => one.attemptId === attemptId);
    summaries.push({
      key: item.work.key,
      attemptId,
      attempt,
      buildId: item.work.open?.buildId ?? "",
      status: "running",
      lastEventSeq: run?.batches.at(-1)?.last ?? outcome.opened.committed,
      command: null,
      exitCode: null,
      exitCodeName: null,
      startedAtMs: null,
      finishedAtMs: null,
    });
  }
  return summaries;
}

function judgeWritten(run: FencedRun, verdicts: Verdicts): void {
  const lastSequence = run.batches.at(-1)?.last ?? 0;
  for (const { task, opened } of run.batches) {
    const partial = task.withoutRows !== undefined;
    verdicts.set(task, committedVerdict("committed", { lastSequence, opened, partial }));
  }
}
