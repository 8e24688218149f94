import { integer, pgTable, text, unique } from "drizzle-orm/pg-core";
import { bytea, instant, int8 } from "./column-types.ts";

/**
 * The fence: one narrow row per attempt, updated by every committed batch. No index but these two, or the
 * updates stop being heap-only; fillfactor 50 leaves each page room for them.
 */
export const streamPositions = pgTable(
  "stream_positions",
  {
    attemptId: int8("attempt_id").primaryKey().generatedAlwaysAsIdentity(),
    projectId: text("project_id").notNull(),
    invocationId: text("invocation_id").notNull(),
    attempt: integer("attempt").notNull(),
    buildId: text("build_id").notNull().default(""),
    /** Random, chosen by the actor that opened last; every other actor is fenced. */
    owner: bytea("owner").notNull(),
    lastEventSeq: int8("last_event_seq").notNull().default(0),
    /** Null when event 1 was never seen (an attempt that begins with a hole). */
    firstEventHmac: bytea("first_event_hmac"),
    /** The `Carry` message the next owner starts with. */
    carry: bytea("carry"),
    nodeId: text("node_id").notNull(),
    /** The owner's connection was reported closed; cleared when the attempt is opened again. */
    disconnectedAt: instant("disconnected_at"),
    /** The end of the stream is committed. */
    finishedAt: instant("finished_at"),
    /** When the present owner opened it. */
    openedAt: instant("opened_at").notNull().defaultNow(),
    /** The sweep closed the attempt; cleared by the batch that reopens it. */
    sweptAt: instant("swept_at"),
  },
  (table) => [unique("stream_positions_key").on(table.projectId, table.invocationId, table.attempt)],
);
