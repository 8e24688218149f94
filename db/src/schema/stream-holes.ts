import { pgTable, primaryKey } from "drizzle-orm/pg-core";
import { instant, int8 } from "./column-types.ts";

/** Events that storage lost and that a client no longer had: a hole allowed by `resume_with_hole`. */
export const streamHoles = pgTable(
  "stream_holes",
  {
    attemptId: int8("attempt_id").notNull(),
    /** First and last missing sequence number. */
    firstSeq: int8("first_seq").notNull(),
    lastSeq: int8("last_seq").notNull(),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.attemptId, table.firstSeq] })],
);
