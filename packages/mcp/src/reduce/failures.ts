import { abortReason } from "@millrace/proto/bep/enums";
import type { AbortRecord, FailedAction } from "./reduced.ts";

const actionsMax = 500;
const abortsMax = 500;

/** Reasons that only follow from another failure or from what was asked for; they are counted, not listed. */
const consequences = new Set<number>([
  abortReason.skipped,
  abortReason.noAnalyze,
  abortReason.noBuild,
  abortReason.incomplete,
]);

/** What went wrong in one invocation: the first failed actions and aborts, and the numbers of all. */
export class Failures {
  readonly actions: FailedAction[] = [];
  readonly aborts: AbortRecord[] = [];
  readonly abortCounts = new Map<number, number>();
  actionCount = 0;

  addAction(action: FailedAction): void {
    this.actionCount += 1;
    if (this.actions.length < actionsMax) this.actions.push(action);
  }

  addAbort(abort: AbortRecord): void {
    this.abortCounts.set(abort.reason, (this.abortCounts.get(abort.reason) ?? 0) + 1);
    if (!consequences.has(abort.reason) && this.aborts.length < abortsMax) this.aborts.push(abort);
  }
}
