import { AssertionFailure } from "@millrace/base/assert";
import { errorText, MillraceError } from "@millrace/base/errors";
import { isSchemaState } from "@millrace/db/errors";
import { isInDoubt } from "@millrace/db/in-doubt";
import { Rows } from "@millrace/proto/pipeline";
import { type CommitContext, commitGroup } from "./commit-group.ts";
import type { CommitTx } from "./store.ts";
import { refusedVerdict, rejectedVerdict, type Task } from "./verdict.ts";

/** What to do about a transaction that failed. */
export type Remedy =
  /** The same group again, after a pause. */
  | "again"
  /** Both halves by themselves: one of them is guilty. */
  | "halve"
  /** The guilty batch without its derived rows. */
  | "strip"
  /** Even that cannot be stored. */
  | "reject"
  /** Nothing can be stored until the schema fits again; meanwhile others have their turn. */
  | "wait";

/**
 * Decides by the error's class and by who stands accused. A fault of our own code that some batch sets off is
 * treated as the fault of that batch, so that it does not take its neighbours along.
 */
export function judgeFailure(error: unknown, tasks: readonly Task[]): Remedy {
  // A COMMIT in doubt is neither success nor failure: the next try asks the fence.
  if (isInDoubt(error)) return "again";
  if (error instanceof AssertionFailure) throw error;
  if (error instanceof MillraceError && error.remedy !== "reject") return "again";
  if (tasks.length > 1) return "halve";
  if (tasks.some(canBeStripped)) return "strip";
  return isSchemaState(codeOf(error)) ? "wait" : "reject";
}

/**
 * Commits a group whatever is in it: when the data of some batch make the transaction fail, it is found by
 * halving, its neighbours are committed, and it is committed without its derived rows, or else rejected.
 * Fails when the group is to be tried again as it was; what is decided by then is answered.
 */
export async function commitOrSalvage(tasks: readonly Task[], context: CommitContext): Promise<void> {
  try {
    await commitGroup(tasks, context);
  } catch (error) {
    const remedy = judgeFailure(error, tasks);
    context.metrics.commitFailed(codeOf(error));
    if (remedy === "again") throw error;
    await salvage(tasks, { remedy, error, context });
  }
}

async function salvage(
  tasks: readonly Task[],
  from: { remedy: Remedy; error: unknown; context: CommitContext },
): Promise<void> {
  const { remedy, error, context } = from;
  switch (remedy) {
    case "halve": {
      const middle = Math.ceil(tasks.length / 2);
      await commitOrSalvage(tasks.slice(0, middle), context);
      await commitOrSalvage(tasks.slice(middle), context);
      return;
    }
    case "strip": {
      const withoutRows = { sqlState: codeOf(error), message: errorText(error) };
      await commitOrSalvage(
        tasks.map(({ item }) => ({ item, withoutRows })),
        context,
      );
      context.metrics.deadLetter("partial");
      return;
    }
    case "reject":
      for (const task of tasks) await reject(task, error, context);
      return;
    default:
      for (const { item } of tasks) item.wait = "busy";
  }
}

function canBeStripped({ item, withoutRows }: Task): boolean {
  return withoutRows === undefined && item.work.kind === "batch" && Boolean(item.work.message.rows);
}

/** Ends the stream with a clear message, after its dead letter is written, if that can be. */
async function reject(task: Task, error: unknown, context: CommitContext): Promise<void> {
  const message = `cannot be stored: ${errorText(error)}`;
  const { work } = task.item;
  try {
    await context.store.transact((tx) => writeRejected(tx, task, error));
  } catch (second) {
    // What cannot be written down either is only counted; a database that went away is tried again.
    if (second instanceof MillraceError && second.remedy === "retry") throw second;
  }
  context.metrics.deadLetter("rejected");
  const verdict = work.kind === "batch" ? rejectedVerdict(message) : refusedVerdict("hole", message);
  if (verdict.kind === "reply") task.item.answer(verdict.reply);
  context.metrics.decided(task.item, verdict);
}

async function writeRejected(tx: CommitTx, task: Task, error: unknown): Promise<void> {
  const { work } = task.item;
  if (work.kind !== "batch") return;
  const { rows } = work.message;
  await tx.appendDeadLetters([
    {
      key: work.key,
      attemptId: work.attemptId,
      first: work.first,
      last: work.last,
      outcome: "rejected",
      sqlState: codeOf(error),
      cause: errorText(error),
      rows: rows ? Rows.encode(rows).finish() : new Uint8Array(0),
    },
  ]);
}

function codeOf(error: unknown): string {
  return error instanceof MillraceError ? error.code : "unknown";
}
