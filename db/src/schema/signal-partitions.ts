import { index, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { instant, int8 } from "./column-types.ts";

/**
 * What is next in each partition that has unfinished deliveries. Its row lock is the partition's: whoever adds to,
 * hands out or finishes a delivery holds it.
 */
export const signalPartitions = pgTable(
  "signal_partitions",
  {
    topic: text("topic").notNull(),
    groupName: text("group_name").notNull(),
    partitionKey: text("partition_key").notNull(),
    /** The delivery that is being handled, or is next. */
    headId: int8("head_id").notNull(),
    /** Present while the head is being handled: who may finish it. */
    receipt: text("receipt"),
    /** When the head is due; while it is handled, when its visibility lapses. */
    nextDue: instant("next_due").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.topic, table.groupName, table.partitionKey] }),
    index("signal_partitions_by_due").on(table.topic, table.groupName, table.nextDue),
  ],
);
