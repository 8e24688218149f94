import type { Candidate } from "./store.ts";

/** A connection that wants to write an invocation's stream. */
export interface OpenAsk {
  readonly owner: string;
  /** Sequence number of its first event. */
  readonly first: number;
  /** HMAC of event 1, "" when `first` is not 1. */
  readonly hmac: string;
  readonly buildId: string;
  readonly node: string;
}

export type OpenDecision =
  /** A new attempt; with `hole` when its first events are lost. */
  | { readonly kind: "insert"; readonly attempt: number; readonly hole?: MissingEvents }
  | { readonly kind: "take-over"; readonly candidate: Candidate; readonly hole?: MissingEvents }
  /** The end is committed: acknowledge again, write nothing, leave the owner. */
  | { readonly kind: "finished"; readonly candidate: Candidate }
  | { readonly kind: "refuse"; readonly reason: "ambiguous" | "hole"; readonly message: string };

interface MissingEvents {
  readonly first: number;
  readonly last: number;
}

/**
 * Which attempt a connection writes: the table of SPEC.md §6. `candidates` are all attempts of the invocation,
 * locked. Asking again with the same owner gives the same attempt.
 */
export function decideOpen(
  ask: OpenAsk,
  from: { candidates: readonly Candidate[]; resumeWithHole: boolean },
): OpenDecision {
  const mine = from.candidates.find((candidate) => candidate.owner === ask.owner);
  if (mine !== undefined) return continueAttempt(mine);
  return ask.first === 1 ? openAtStart(ask, from.candidates) : openAtLater(ask, from);
}

function openAtStart(ask: OpenAsk, candidates: readonly Candidate[]): OpenDecision {
  const same = ask.hmac === "" ? [] : candidates.filter((candidate) => candidate.hmac === ask.hmac);
  const newest = newestOf(same);
  if (newest !== undefined) return continueAttempt(newest);
  return { kind: "insert", attempt: nextAttempt(candidates) };
}

function openAtLater(
  ask: OpenAsk,
  from: { candidates: readonly Candidate[]; resumeWithHole: boolean },
): OpenDecision {
  const candidates = from.candidates.filter((candidate) => mayBeOfBuild(ask, candidate));
  const unfinished = candidates.filter((candidate) => !candidate.finished);
  const fitting = unfinished.filter((candidate) => ask.first <= candidate.committed + 1);
  const ended = candidates.filter((candidate) => candidate.finished && ask.first <= candidate.committed);
  if (fitting.length > 0) return chooseOne(ask, [...fitting, ...ended.filter((one) => one.endedRecently)]);
  const newestEnded = newestOf(ended);
  if (newestEnded !== undefined) return continueAttempt(newestEnded);
  if (from.resumeWithHole) return openBehindHole(ask, { unfinished, next: nextAttempt(from.candidates) });
  return { kind: "refuse", reason: "hole", message: holeMessage(ask, unfinished) };
}

/** Bazel makes a build id for every command and keeps it over its retries, so another one is another stream. */
function mayBeOfBuild(ask: OpenAsk, candidate: Candidate): boolean {
  return ask.buildId === candidate.buildId || ask.buildId === "" || candidate.buildId === "";
}

function openBehindHole(
  ask: OpenAsk,
  from: { unfinished: readonly Candidate[]; next: number },
): OpenDecision {
  const last = ask.first - 1;
  if (from.unfinished.length === 0) return { kind: "insert", attempt: from.next, hole: { first: 1, last } };
  const chosen = chooseOne(ask, from.unfinished);
  if (chosen.kind !== "take-over") return chosen;
  return { ...chosen, hole: { first: chosen.candidate.committed + 1, last } };
}

/**
 * The one that the connection continues. An attempt that has ended a moment ago competes with one that goes on: its
 * uploader may not have seen the last acks.
 */
function chooseOne(ask: OpenAsk, fitting: readonly Candidate[]): OpenDecision {
  const [only, ...others] = prefer(fitting, (candidate) => !candidate.live);
  if (only !== undefined && others.length === 0) return continueAttempt(only);
  const attempts = fitting.map((candidate) => candidate.attempt).join(", ");
  const message = `event ${ask.first} continues any of the attempts ${attempts}; try again`;
  return { kind: "refuse", reason: "ambiguous", message };
}

/** Those that fulfil the wish, or all when none does. */
function prefer(
  candidates: readonly Candidate[],
  wish: (candidate: Candidate) => boolean,
): readonly Candidate[] {
  const wished = candidates.filter(wish);
  return wished.length > 0 ? wished : candidates;
}

function continueAttempt(candidate: Candidate): OpenDecision {
  return candidate.finished ? { kind: "finished", candidate } : { kind: "take-over", candidate };
}

function newestOf(candidates: readonly Candidate[]): Candidate | undefined {
  return candidates.reduce<Candidate | undefined>(
    (newest, candidate) => (newest === undefined || candidate.attempt > newest.attempt ? candidate : newest),
    undefined,
  );
}

function nextAttempt(candidates: readonly Candidate[]): number {
  return (newestOf(candidates)?.attempt ?? 0) + 1;
}

function holeMessage(ask: OpenAsk, unfinished: readonly Candidate[]): string {
  const committed = Math.max(0, ...unfinished.map((candidate) => candidate.committed));
  return `the stream resumes at event ${ask.first}, but only ${committed} events of it are stored`;
}
