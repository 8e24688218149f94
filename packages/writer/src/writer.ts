import { errorText, MillraceError } from "@millrace/base/errors";
import { latch } from "@millrace/base/latch";
import type { Stoppable } from "@millrace/base/lifecycle";
import type { Log } from "@millrace/base/log";
import type { IBatchReply, IOpenReply } from "@millrace/proto/pipeline";
import type { CommitContext } from "./commit-group.ts";
import { runGroupCommit } from "./group-commit.ts";
import type { Inbox } from "./inbox.ts";
import type { ShardHandlers } from "./shards.ts";
import { type Reply, readBatchRequest, readOpenRequest, type Work } from "./work.ts";

/** What a writer answers, from its inbox. A work that the inbox refuses is not answered and comes again. */
export function inboxHandlers(inbox: Inbox, onRefused: () => void): ShardHandlers {
  const decide = (work: Work): Promise<Reply> => {
    const reply = latch<Reply>();
    if (!inbox.offer(work, reply.open)) {
      onRefused();
      reply.fail(inboxFull());
    }
    return reply.promise;
  };
  // What a reply is follows from the kind of work that it answers.
  return {
    open: async (request) => (await decide(readOpenRequest(request))) as IOpenReply,
    batch: async (request) => (await decide(readBatchRequest(request))) as IBatchReply,
  };
}

/** How long a stopping writer waits for what it holds; the fence sorts out what it leaves. */
const drainMsMax = 5_000;

/** Commits groups on every connection until stopped; then what is in hand is finished. */
export function startCommitting(
  inbox: Inbox,
  contexts: readonly (CommitContext & { log: Log })[],
  onFailure: (error: unknown) => void,
): Stoppable {
  const loops = contexts.map((context) => runGroupCommit(inbox, context));
  const all = Promise.all(loops);
  all.catch(onFailure);
  return {
    name: "group commit",
    stop: async () => {
      inbox.drain();
      const given = latch<void>();
      const cancel = contexts[0]?.clock.after(drainMsMax, given.open);
      await Promise.race([all.catch(() => {}), given.promise]);
      cancel?.();
    },
  };
}

/** A broken invariant: the process ends, the supervisor starts another one, actors ask again. */
export function endProcess(error: unknown, log: Log): never {
  log.error("the writer is broken", { error: errorText(error) });
  process.exit(1);
}

function inboxFull(): MillraceError {
  return new MillraceError({ remedy: "retry", code: "inbox-full", message: "the writer's inbox is full" });
}
