import { sql } from "drizzle-orm";
import { index, pgTable, text } from "drizzle-orm/pg-core";
import { bytea, int8 } from "./column-types.ts";
import { commitDay } from "./event-segments.ts";

/** Log text: zstd of bytes, one row per committed batch that had progress. Partitioned as `event_segments`. */
export const logSegments = pgTable(
  "log_segments",
  {
    attemptId: int8("attempt_id").notNull(),
    firstByte: int8("first_byte").notNull(),
    byteCount: int8("byte_count").notNull(),
    /** Line feeds before `first_byte`, and within. */
    firstLine: int8("first_line").notNull(),
    lineCount: int8("line_count").notNull(),
    /** Null when the text lies in the blob store. */
    data: bytea("data"),
    stagedKey: text("staged_key"),
    commitDay: commitDay(),
  },
  (table) => [
    index("log_segments_by_place").on(table.attemptId, table.firstByte, table.firstLine),
    index("log_segments_staged").on(table.stagedKey).where(sql`${table.stagedKey} is not null`),
  ],
);
