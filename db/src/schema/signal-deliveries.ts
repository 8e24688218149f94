import { sql } from "drizzle-orm";
import { boolean, index, integer, jsonb, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { instant, int8 } from "./column-types.ts";

/** A message of the build-signal queue on its way to one group of consumers. Deleted when the group is done with it. */
export const signalDeliveries = pgTable(
  "signal_deliveries",
  {
    /** The order inside a partition. */
    id: int8("id").primaryKey().generatedAlwaysAsIdentity(),
    topic: text("topic").notNull(),
    groupName: text("group_name").notNull(),
    partitionKey: text("partition_key").notNull(),
    messageId: text("message_id").notNull(),
    payload: jsonb("payload").notNull(),
    metadata: jsonb("metadata").$type<Readonly<Record<string, string>>>().notNull().default({}),
    publishedAt: instant("published_at").notNull(),
    /** Kept when done, so that a later publish of the same id is swallowed. */
    once: boolean("once").notNull().default(false),
    /** Not handed out before. */
    dueAt: instant("due_at").notNull(),
    /** Nothing behind it is handed out before it is due: held, or waiting for a retry that keeps order. */
    isBarrier: boolean("is_barrier").notNull().default(false),
    /** Attempts that failed. A hold sets it to 0. */
    failures: integer("failures").notNull().default(0),
    /** Holds in a row since the handler last called one fresh. */
    holds: integer("holds").notNull().default(0),
    /** The first hold in a row of nothing but holds. */
    heldSince: instant("held_since"),
    doneAt: instant("done_at"),
  },
  (table) => [
    uniqueIndex("signal_deliveries_unfinished")
      .on(table.topic, table.groupName, table.partitionKey, table.messageId)
      .where(sql`done_at is null`),
    index("signal_deliveries_in_order")
      .on(table.topic, table.groupName, table.partitionKey, table.id)
      .where(sql`done_at is null`),
    index("signal_deliveries_done")
      .on(table.topic, table.partitionKey, table.messageId)
      .where(sql`done_at is not null`),
  ],
);
