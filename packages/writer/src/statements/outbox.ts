import type { Lane } from "@millrace/db/lane";
import { nodes } from "@millrace/db/schema/nodes";
import { outbox } from "@millrace/db/schema/outbox";
import { and, asc, inArray, isNotNull, isNull, lt, ne, sql } from "drizzle-orm";
import type { OutboxStore, Taken } from "../outbox-relay.ts";
import { holdLease } from "./job-leases.ts";

/** JetStream's disk is behind its acknowledgements by 2 min at most, unless told otherwise. */
const keptMinutes = 10;

const nothingTaken: Taken = { ids: [], stream: "" };

export function pgOutboxStore(lane: Lane): OutboxStore {
  return {
    relay: (limit, publish) =>
      lane.transact(async ({ orm }) => {
        const facts = await orm
          .select({
            id: outbox.id,
            subject: outbox.subject,
            json: sql<string>`${outbox.event}::text`,
            messageId: sql<string>`${outbox.event} ->> 'id'`,
          })
          .from(outbox)
          .where(isNull(outbox.publishedAt))
          .orderBy(asc(outbox.id))
          .limit(limit)
          .for("update", { skipLocked: true });
        const taken = facts.length === 0 ? nothingTaken : await publish(facts);
        if (taken.ids.length > 0) {
          await orm
            .update(outbox)
            .set({ publishedAt: sql`now()`, publishedTo: taken.stream })
            .where(inArray(outbox.id, [...taken.ids]));
        }
        return facts.length;
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
