import { index, pgTable, text } from "drizzle-orm/pg-core";
import { bytea, instant, int8 } from "./column-types.ts";

/** What could not be stored as it came, with its cause. `rows` holds the derived rows that were left out. */
export const deadLetters = pgTable(
  "dead_letters",
  {
    id: int8("id").primaryKey().generatedAlwaysAsIdentity(),
    projectId: text("project_id").notNull(),
    invocationId: text("invocation_id").notNull(),
    /** Null when not even the attempt could be decided. */
    attemptId: int8("attempt_id"),
    firstSeq: int8("first_seq").notNull(),
    lastSeq: int8("last_seq").notNull(),
    /** `partial`: stored without derived rows. `rejected`: not stored, its stream was ended. */
    outcome: text("outcome", { enum: ["partial", "rejected"] }).notNull(),
    sqlState: text("sql_state").notNull(),
    cause: text("cause").notNull(),
    /** The `Rows` message that was left out. */
    rows: bytea("rows"),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [index("dead_letters_by_attempt").on(table.attemptId)],
);
