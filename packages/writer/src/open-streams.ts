import { invocationKey } from "@millrace/proto/tokens";
import { decideOpen, type OpenAsk, type OpenDecision } from "./decide-open.ts";
import type { WaitReason } from "./inbox-flow.ts";
import type { CommitTx, Hole, LockedKey, Position, StreamKey } from "./store.ts";
import type { OpenedAttempt } from "./verdict.ts";

/** A connection that opens a stream, and whose task it is. */
export interface Opening<T> {
  readonly task: T;
  readonly key: StreamKey;
  readonly ask: OpenAsk;
}

export type OpenOutcome =
  | {
      readonly kind: "opened";
      readonly opened: OpenedAttempt;
      readonly isNew: boolean;
      /** Where the attempt stands in this transaction, which holds its row. */
      readonly position: Position;
    }
  | { readonly kind: "refused"; readonly reason: "ambiguous" | "hole"; readonly message: string }
  | { readonly kind: "wait"; readonly why: WaitReason };

interface Decided<T> {
  readonly opening: Opening<T>;
  readonly decision: OpenDecision;
}

/** Decides the attempts of all that open in a group: one per invocation, others of the same wait their turn. */
export async function openStreams<T>(
  tx: CommitTx,
  openings: readonly Opening<T>[],
  policy: { resumeWithHole: boolean },
): Promise<Map<T, OpenOutcome>> {
  const outcomes = new Map<T, OpenOutcome>();
  const first = new Map<string, Opening<T>>();
  for (const opening of openings) {
    const name = nameOf(opening.key);
    if (first.has(name)) outcomes.set(opening.task, { kind: "wait", why: "next" });
    else first.set(name, opening);
  }
  if (first.size === 0) return outcomes;
  const locked = await tx.lockAttempts([...first.values()].map((opening) => opening.key));
  const decided = [...decideAll(first, { locked, outcomes, ...policy })];
  await writeDecisions(tx, decided, outcomes);
  return outcomes;
}

function* decideAll<T>(
  openings: ReadonlyMap<string, Opening<T>>,
  from: { locked: readonly LockedKey[]; outcomes: Map<T, OpenOutcome>; resumeWithHole: boolean },
): Iterable<Decided<T>> {
  const { locked, outcomes, resumeWithHole } = from;
  for (const { key, busy, candidates } of locked) {
    const opening = openings.get(nameOf(key));
    if (opening === undefined) continue;
    if (busy) outcomes.set(opening.task, { kind: "wait", why: "busy" });
    else yield { opening, decision: decideOpen(opening.ask, { candidates, resumeWithHole }) };
  }
}

async function writeDecisions<T>(
  tx: CommitTx,
  decided: readonly Decided<T>[],
  outcomes: Map<T, OpenOutcome>,
): Promise<void> {
  const inserted = await insertAttempts(tx, decided);
  const takeOvers: { attemptId: number; owner: string; node: string }[] = [];
  const holes: Hole[] = [];
  for (const { opening, decision } of decided) {
    const { task, key, ask } = opening;
    if (decision.kind === "refuse") {
      outcomes.set(task, { kind: "refused", reason: decision.reason, message: decision.message });
      continue;
    }
    const isNew = decision.kind === "insert";
    const opened = isNew ? newAttempt(decision, inserted.get(nameOf(key))) : decision.candidate;
    if (opened === undefined) {
      // Another writer has inserted it a moment ago: the next look finds it.
      outcomes.set(task, { kind: "wait", why: "next" });
      continue;
    }
    const { attemptId } = opened;
    if (decision.kind === "take-over") takeOvers.push({ attemptId, owner: ask.owner, node: ask.node });
    const hole = decision.kind === "finished" ? undefined : decision.hole;
    if (hole !== undefined) holes.push({ attemptId, ...hole });
    const committed = hole?.last ?? opened.committed;
    const position = { ...positionAfter(decision, ask), committed };
    outcomes.set(task, { kind: "opened", opened: { ...opened, committed }, isNew, position });
  }
  if (takeOvers.length > 0) await tx.takeOver(takeOvers);
  if (holes.length > 0) await tx.recordHoles(holes);
}

async function insertAttempts<T>(
  tx: CommitTx,
  decided: readonly Decided<T>[],
): Promise<ReadonlyMap<string, number>> {
  const attempts = decided.flatMap(({ opening: { key, ask }, decision }) => {
    if (decision.kind !== "insert") return [];
    const { owner, hmac, buildId, node } = ask;
    return [{ key, attempt: decision.attempt, owner, hmac, buildId, node }];
  });
  const inserted = attempts.length === 0 ? [] : await tx.insertAttempts(attempts);
  return new Map(inserted.map(({ key, attemptId }) => [nameOf(key), attemptId]));
}

function newAttempt(decision: { attempt: number }, attemptId: number | undefined): OpenedAttempt | undefined {
  if (attemptId === undefined) return undefined;
  return { attemptId, attempt: decision.attempt, committed: 0, finished: false, carry: new Uint8Array(0) };
}

function positionAfter(decision: Exclude<OpenDecision, { kind: "refuse" }>, ask: OpenAsk): Position {
  if (decision.kind === "insert") return { owner: ask.owner, committed: 0, finished: false, swept: false };
  const { owner, committed, finished, swept } = decision.candidate;
  return { owner: decision.kind === "take-over" ? ask.owner : owner, committed, finished, swept };
}

function nameOf(key: StreamKey): string {
  return invocationKey(key.project, key.invocationId);
}
