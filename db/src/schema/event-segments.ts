import { sql } from "drizzle-orm";
import { date, index, pgTable, text } from "drizzle-orm/pg-core";
import { bytea, int8 } from "./column-types.ts";

/** The day of the commit by the database's clock, in UTC: a past day never receives rows. */
export const commitDay = () => date("commit_day").notNull().default(sql`(now() at time zone 'utc')::date`);

/**
 * Raw events: zstd of varint-delimited `BuildEvent` bytes, one row per committed batch. Partitioned by day,
 * stored EXTERNAL because the bytes are compressed already.
 */
export const eventSegments = pgTable(
  "event_segments",
  {
    attemptId: int8("attempt_id").notNull(),
    firstSeq: int8("first_seq").notNull(),
    lastSeq: int8("last_seq").notNull(),
    /** Before compression. */
    rawBytes: int8("raw_bytes").notNull(),
    /** Null when the segment lies in the blob store. */
    data: bytea("data"),
    stagedKey: text("staged_key"),
    commitDay: commitDay(),
  },
  (table) => [
    index("event_segments_by_sequence").on(table.attemptId, table.firstSeq),
    index("event_segments_staged").on(table.stagedKey).where(sql`${table.stagedKey} is not null`),
  ],
);
