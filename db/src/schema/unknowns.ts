import { pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { int8 } from "./column-types.ts";

/** Events with something in them that this version does not know; they are stored raw like all others. */
export const unknowns = pgTable(
  "unknowns",
  {
    attemptId: int8("attempt_id").notNull(),
    /** `payload 31`, `completed field 12`, `type type.googleapis.com/buck.data.BuckEvent` and the like. */
    what: text("what").notNull(),
    events: int8("events").notNull(),
  },
  (table) => [primaryKey({ columns: [table.attemptId, table.what] })],
);
