import { pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { int8 } from "./column-types.ts";

/** What was announced, did not come, and is no target: patterns, labels that did not load or were not analysed. */
export const problems = pgTable(
  "problems",
  {
    attemptId: int8("attempt_id").notNull(),
    /** Sequence number of its event. */
    sequence: int8("sequence").notNull(),
    /** Of the event's id, as BEP's JSON names it. */
    kind: text("kind").notNull(),
    /** Label, or patterns with blanks between. */
    subject: text("subject"),
    configuration: text("configuration"),
    /** Name of the AbortReason; SKIPPED_PATTERN for a pattern that stands for nothing. */
    reason: text("reason").notNull(),
    description: text("description"),
  },
  (table) => [primaryKey({ columns: [table.attemptId, table.sequence] })],
);
