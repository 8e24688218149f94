import { sql } from "drizzle-orm";
import { index, integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { bytea, instant, int8 } from "./column-types.ts";

/**
 * One immutable object in the blob store that holds events and log of an attempt in place of its segments: `part` 1, 2, …
 * follow each other without a hole, in events and in log. The object was read back and found right before its row was
 * written.
 */
export const archives = pgTable(
  "archives",
  {
    attemptId: int8("attempt_id").notNull(),
    part: integer("part").notNull(),
    /** Key prefix of the project at that time; the key follows from it (blobs/blob-key.ts). */
    prefix: text("prefix").notNull(),
    firstSeq: int8("first_seq").notNull(),
    /** One less than `first_seq` when there are only log bytes in it. */
    lastSeq: int8("last_seq").notNull(),
    /** Varint-delimited events before compression. */
    rawBytes: int8("raw_bytes").notNull(),
    firstByte: int8("first_byte").notNull(),
    byteCount: int8("byte_count").notNull(),
    firstLine: int8("first_line").notNull(),
    lineCount: int8("line_count").notNull(),
    /** Bytes of the object. */
    size: int8("size").notNull(),
    /** SHA-256 of the object. */
    digest: bytea("digest").notNull(),
    /** Where what lies in it: an index as blobs/archive-index.ts writes it. Empty once it has expired. */
    frames: bytea("frames").notNull(),
    createdAt: instant("created_at").notNull().defaultNow(),
    /** Its object is deleted; the row says that nothing is missing. */
    expiredAt: instant("expired_at"),
  },
  (table) => [
    primaryKey({ columns: [table.attemptId, table.part] }),
    index("archives_kept").on(table.attemptId).where(sql`${table.expiredAt} is null`),
  ],
);
