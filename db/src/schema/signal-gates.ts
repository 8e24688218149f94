import { pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { instant } from "./column-types.ts";

/** A partition whose deliveries an operator keeps from being handed out; without a key: a whole topic. */
export const signalGates = pgTable(
  "signal_gates",
  {
    topic: text("topic").notNull(),
    /** Empty: every partition of the topic. */
    partitionKey: text("partition_key").notNull(),
    reason: text("reason").notNull(),
    closedAt: instant("closed_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.topic, table.partitionKey] })],
);
