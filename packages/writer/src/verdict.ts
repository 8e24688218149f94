import { Carry, type IStreamOpened, RefusalReason } from "@millrace/proto/pipeline";
import type { InboxItem, WaitReason } from "./inbox-flow.ts";
import type { Reply } from "./work.ts";

/** A work on its way through one transaction. */
export interface Task {
  readonly item: InboxItem;
  /** Set by salvage: its derived rows are left out, for this cause. */
  readonly withoutRows?: Cause;
}

/** Why something could not be stored. */
export interface Cause {
  readonly sqlState: string;
  readonly message: string;
}

/** What one transaction decided about a work. It is told only after COMMIT was answered. */
export type Verdict =
  | { readonly kind: "reply"; readonly reply: Reply; readonly outcome: Outcome }
  | { readonly kind: "wait"; readonly why: WaitReason };

/** How works end, for metrics. */
export type Outcome = "committed" | "repeat" | "fenced" | "opened" | "refused" | "released" | "rejected";

/** An attempt as `open` gives it to a connection. */
export interface OpenedAttempt {
  readonly attemptId: number;
  readonly attempt: number;
  readonly committed: number;
  readonly finished: boolean;
  /** Encoded `Carry`. */
  readonly carry: Uint8Array;
}

export type Verdicts = Map<Task, Verdict>;

export function waits(why: WaitReason): Verdict {
  return { kind: "wait", why };
}

export function replies(outcome: Outcome, reply: Reply): Verdict {
  return { kind: "reply", outcome, reply };
}

export function committedVerdict(
  outcome: "committed" | "repeat",
  what: { lastSequence: number; opened: OpenedAttempt | undefined; partial: boolean },
): Verdict {
  const opened = what.opened === undefined ? {} : { opened: openedMessage(what.opened) };
  const committed = { lastSequence: what.lastSequence, partial: what.partial, ...opened };
  return replies(outcome, { committed });
}

export function openedVerdict(opened: OpenedAttempt): Verdict {
  return replies("opened", { opened: openedMessage(opened) });
}

export function refusedVerdict(reason: "ambiguous" | "hole", message: string): Verdict {
  const number = reason === "hole" ? RefusalReason.HOLE : RefusalReason.AMBIGUOUS;
  return replies("refused", { refused: { reason: number, message } });
}

export const fencedVerdict: Verdict = replies("fenced", { fenced: {} });

export const releasedVerdict: Verdict = replies("released", { released: {} });

export function rejectedVerdict(message: string): Verdict {
  return replies("rejected", { rejected: { message } });
}

function openedMessage(opened: OpenedAttempt): IStreamOpened {
  const { attemptId, attempt, committed, finished, carry } = opened;
  return { attemptId, attempt, committed, finished, carry: Carry.decode(carry) };
}
