import { boolean, integer, pgTable, primaryKey, smallint } from "drizzle-orm/pg-core";
import { bytea, int8 } from "./column-types.ts";

/**
 * Named sets of files in blocks, as the batches that brought them packed them. They keep the graph that Bazel sent:
 * `db/named-sets.ts` expands what somebody asks for.
 */
export const namedSets = pgTable(
  "named_sets",
  {
    attemptId: int8("attempt_id").notNull(),
    /** First sequence number of the batch. */
    firstSeq: int8("first_seq").notNull(),
    part: smallint("part").notNull(),
    /** Sets that begin in this block, and their own files. */
    setCount: integer("set_count").notNull(),
    fileCount: int8("file_count").notNull(),
    /** Frames before compression. */
    rawBytes: int8("raw_bytes").notNull(),
    /** Range of the ids; null when some id is no plain number. */
    firstId: int8("first_id"),
    lastId: int8("last_id"),
    /** More came with this event than a message may carry; the raw event has it. */
    cut: boolean("cut").notNull(),
    /** zstd of frames as proto/bep/named-set-block.ts describes them. */
    data: bytea("data").notNull(),
  },
  (table) => [primaryKey({ columns: [table.attemptId, table.firstSeq, table.part] })],
);
