import { integer, jsonb, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { instant, int8 } from "./column-types.ts";

export const signalLetterStates = ["open", "reconciled", "redriven", "discarded"] as const;

/**
 * A delivery that was given up, with its first and last cause. The same id again counts up. An open one is never
 * dropped; a settled one is removed after some months.
 */
export const signalDeadLetters = pgTable(
  "signal_dead_letters",
  {
    /** By which operators name it; ascends with the first failure. */
    id: int8("id").notNull().generatedAlwaysAsIdentity(),
    /** The topic it was given up on. */
    topic: text("topic").notNull(),
    groupName: text("group_name").notNull(),
    partitionKey: text("partition_key").notNull(),
    messageId: text("message_id").notNull(),
    payload: jsonb("payload").notNull(),
    metadata: jsonb("metadata").$type<Readonly<Record<string, string>>>().notNull(),
    state: text("state", { enum: signalLetterStates }).notNull().default("open"),
    occurrences: integer("occurrences").notNull().default(1),
    /** Attempts of the last occurrence. */
    failures: integer("failures").notNull(),
    firstReason: text("first_reason").notNull(),
    lastReason: text("last_reason").notNull(),
    firstFailedAt: instant("first_failed_at").notNull(),
    lastFailedAt: instant("last_failed_at").notNull(),
    settledAt: instant("settled_at"),
  },
  (table) => [
    primaryKey({ columns: [table.topic, table.groupName, table.partitionKey, table.messageId] }),
    uniqueIndex("signal_dead_letters_by_id").on(table.id),
  ],
);
