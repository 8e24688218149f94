import { MillraceError } from "@millrace/base/errors";
import { Carry } from "@millrace/proto/pipeline";
import { chain } from "./chain.ts";
import type { CommitTx, FenceRow, LockedPosition, Position } from "./store.ts";
import {
  committedVerdict,
  fencedVerdict,
  type OpenedAttempt,
  rejectedVerdict,
  type Task,
  type Verdict,
  type Verdicts,
  waits,
} from "./verdict.ts";
import type { BatchWork } from "./work.ts";

/** A batch whose attempt is known. */
export interface KnownBatch {
  readonly task: Task;
  readonly batch: BatchWork;
  readonly first: number;
  readonly last: number;
  readonly attemptId: number;
  /** When the batch opened the stream. */
  readonly opened: OpenedAttempt | undefined;
}

/** Batches that passed the fence together: consecutive events of one attempt, and where it stood before. */
export interface FencedRun {
  readonly attemptId: number;
  readonly owner: string;
  readonly batches: readonly KnownBatch[];
  readonly position: Position;
}

/**
 * Sorts the batches by what they mean at the positions, whose rows this transaction holds, and gives a verdict on all
 * that are not to be written. What comes back passes the fence and is to be written.
 */
export function sortOutBatches(from: {
  batches: readonly KnownBatch[];
  positions: ReadonlyMap<number, LockedPosition>;
  verdicts: Verdicts;
}): FencedRun[] {
  return byAttemptAndOwner(from.batches).flatMap((batches) => sortOut(batches, from) ?? []);
}

/**
 * The fence: advances the positions of all runs. It decides by itself once more whether owner and number fit; as the
 * rows are held since they were looked at, another answer than "all" means that nothing of this group may be written.
 */
export async function advanceFence(tx: CommitTx, runs: readonly FencedRun[]): Promise<void> {
  if (runs.length === 0) return;
  const winners = await tx.advanceFence(runs.map(fenceRow));
  if (winners.length === runs.length) return;
  const message = `the fence let ${winners.length} of ${runs.length} runs pass`;
  throw new MillraceError({ remedy: "retry", code: "fence-moved", message });
}

/** Verdicts on what is not to be written; the run that the fence has to decide. */
function sortOut(
  batches: readonly KnownBatch[],
  from: { positions: ReadonlyMap<number, LockedPosition>; verdicts: Verdicts },
): FencedRun | undefined {
  const [{ attemptId, batch }] = batches as readonly [KnownBatch];
  const locked = from.positions.get(attemptId);
  const give = (to: readonly KnownBatch[], verdict: (batch: KnownBatch) => Verdict): void => {
    for (const one of to) from.verdicts.set(one.task, verdict(one));
  };
  if (locked?.state === "busy") give(batches, () => waits("busy"));
  if (locked?.position === undefined) {
    // Unknown: the attempt was deleted or the database restored; the client starts again.
    if (locked?.state !== "busy") give(batches, () => fencedVerdict);
    return undefined;
  }
  const { position } = locked;
  const { repeats, run, ahead, doubles, crossing } = chain(position.committed, batches);
  give(repeats, (repeat) => judgeRepeat(repeat, position));
  const isMine = batch.owner === position.owner || batches.some(({ opened }) => opened);
  const ifMine = (verdict: Verdict): Verdict => (isMine ? verdict : fencedVerdict);
  give(ahead, () => ifMine(waits("ahead")));
  give(doubles, () => waits("next"));
  give(crossing, () => ifMine(rejectedVerdict("the batch begins among events that are committed already")));
  if (position.finished) give(run, () => ifMine(rejectedVerdict("the stream has ended")));
  else if (!isMine) give(run, () => fencedVerdict);
  if (position.finished || !isMine || run.length === 0) return undefined;
  return { attemptId, owner: batch.owner, batches: run, position };
}

/** Only the owner that committed may take it for its own; another one has sent other events perhaps. */
function judgeRepeat(repeat: KnownBatch, position: Position): Verdict {
  if (repeat.opened === undefined && repeat.batch.owner !== position.owner) return fencedVerdict;
  const { opened } = repeat;
  return committedVerdict("repeat", { lastSequence: position.committed, opened, partial: false });
}

function fenceRow(run: FencedRun): FenceRow {
  const lastBatch = run.batches.at(-1) ?? run.batches[0];
  const carry = lastBatch?.batch.message.carry;
  return {
    attemptId: run.attemptId,
    owner: run.owner,
    first: run.batches[0]?.first ?? 0,
    last: lastBatch?.last ?? 0,
    carry: carry ? Carry.encode(carry).finish() : new Uint8Array(0),
    ends: run.batches.some(({ batch }) => batch.message.endsStream === true),
  };
}

function byAttemptAndOwner(batches: readonly KnownBatch[]): KnownBatch[][] {
  const groups = new Map<string, KnownBatch[]>();
  for (const batch of batches) {
    const name = `${batch.attemptId} ${batch.batch.owner}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [batch]);
    else group.push(batch);
  }
  return [...groups.values()];
}
