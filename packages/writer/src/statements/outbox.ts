import type { Lane } from "@millrace/db/lane";
import { nodes } from "@millrace/db/schema/nodes";
import { outbox } from "@millrace/db/schema/outbox";
import { and, asc, inArray, isNotNull, isNull, lt, ne, or, sql } from "drizzle-orm";
import type { OutboxStore } from "../outbox-relay.ts";
import { holdLease } from "./job-leases.ts";

/** A relay that died gives its rows back by this. */
const claimSeconds = 10;
/** JetStream's disk is behind its acknowledgements by 2 min at most, unless told otherwise. */
const keptMinutes = 10;

export function pgOutboxStore(lane: Lane): OutboxStore {
  return {
    claim: (limit) =>
      lane.transact(async ({ orm }) => {
        const isFree = or(isNull(outbox.claimedUntil), lt(outbox.claimedUntil, sql`now()`));
        const next = orm
          .select({ id: outbox.id })
          .from(outbox)
          .where(and(isNull(outbox.publishedAt), isFree))
          .orderBy(asc(outbox.id))
          .limit(limit)
          .for("update", { skipLocked: true });
        const rows = await orm
          .update(outbox)
          .set({ claimedUntil: sql`now() + make_interval(secs => ${claimSeconds})` })
          .where(inArray(outbox.id, next))
          .returning({
            id: outbox.id,
            subject: outbox.subject,
            json: sql<string>`${outbox.event}::text`,
            messageId: sql<string>`${outbox.event} ->> 'id'`,
          });
        return rows.sort((a, b) => a.id - b.id);
      }),
    markPublished: (ids, stream) =>
      lane.transact(async ({ orm }) => {
        await orm
          .update(outbox)
          .set({ publishedAt: sql`now()`, publishedTo: stream, claimedUntil: null })
          .where(inArray(outbox.id, [...ids]));
      }),
    giveBack: (ids) =>
      lane.transact(async ({ orm }) => {
        await orm
          .update(outbox)
          .set({ claimedUntil: null })
          .where(and(inArray(outbox.id, [...ids]), isNull(outbox.publishedAt)));
      }),
    requeueOthers: (stream, lease) =>
      lane.transact(async (tx) => {
        await holdLease(tx, lease);
        const rows = await tx.orm
          .update(outbox)
          .set({ publishedAt: null, publishedTo: null })
          .where(and(isNotNull(outbox.publishedAt), ne(outbox.publishedTo, stream)))
          .returning({ id: outbox.id });
        return rows.length;
      }),
    prune: (lease) =>
      lane.transact(async (tx) => {
        await holdLease(tx, lease);
        await tx.orm
          .delete(outbox)
          .where(lt(outbox.publishedAt, sql`now() - make_interval(mins => ${keptMinutes})`));
        // Front doors that were gone a day ago come back under another name.
        await tx.orm.delete(nodes).where(lt(nodes.leaseUntil, sql`now() - interval '1 day'`));
      }),
  };
}
