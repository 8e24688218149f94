import { delay } from "@millrace/base/clock";
import { errorText, MillraceError } from "@millrace/base/errors";
import type { Log } from "@millrace/base/log";
import { withJitter } from "@millrace/base/random";
import type { CommitContext } from "./commit-group.ts";
import type { Inbox } from "./inbox.ts";
import type { InboxItem } from "./inbox-flow.ts";
import { commitOrSalvage } from "./salvage.ts";

/**
 * Group commit. While one transaction is on its way to disk, all that arrives joins the next one: an idle writer
 * commits each batch at once, a busy one in ever larger groups. Ends when the inbox is drained.
 */
export async function runGroupCommit(inbox: Inbox, context: CommitContext & { log: Log }): Promise<void> {
  for (;;) {
    const group = await inbox.takeGroup();
    if (group === undefined) return;
    await commitUntilDecided(group, inbox, context);
    inbox.settle(group);
    context.metrics.inbox(inbox.bytes, inbox.count);
  }
}

const firstPauseMs = 20;
const longestPauseMs = 1_000;

/** Tries until every work of the group is decided or nobody asks for it any more. */
async function commitUntilDecided(
  group: readonly InboxItem[],
  inbox: Inbox,
  context: CommitContext & { log: Log },
): Promise<void> {
  let pauseMs = firstPauseMs;
  let undecided = group;
  while (undecided.length > 0) {
    try {
      return await commitOrSalvage(
        undecided.map((item) => ({ item })),
        context,
      );
    } catch (error) {
      if (!(error instanceof MillraceError)) throw error;
      context.log.warn("a group was not committed and is tried again", {
        works: undecided.length,
        error: errorText(error),
      });
    }
    await delay(context.clock, withJitter(context.random, pauseMs));
    pauseMs = Math.min(2 * pauseMs, longestPauseMs);
    undecided = inbox.keepUndecided(undecided);
  }
}
