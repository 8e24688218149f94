import { pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { int8 } from "./column-types.ts";

/** How many actions of a mnemonic the stream told of: failed ones, or all with --build_event_publish_all_actions. */
export const actionCounts = pgTable(
  "action_counts",
  {
    attemptId: int8("attempt_id").notNull(),
    mnemonic: text("mnemonic").notNull(),
    succeeded: int8("succeeded").notNull(),
    failed: int8("failed").notNull(),
    /** Sum of the wall times of those that have times. */
    durationMs: int8("duration_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.attemptId, table.mnemonic] })],
);
