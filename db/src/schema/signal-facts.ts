import { pgTable, primaryKey, smallint, text } from "drizzle-orm/pg-core";
import { instant } from "./column-types.ts";

/** What a build found out about a commit. Created once, first writer wins for ever. No row is not green. */
export const signalFacts = pgTable(
  "signal_facts",
  {
    queue: text("queue").notNull(),
    uri: text("uri").notNull(),
    /** A part of the repository; empty: the whole. */
    part: text("part").notNull().default(""),
    /** 0: green, 1: broken. */
    degree: smallint("degree").notNull(),
    requestId: text("request_id").notNull(),
    createdAt: instant("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.queue, table.uri, table.part] })],
);
