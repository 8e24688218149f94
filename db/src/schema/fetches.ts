import { boolean, integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { int8 } from "./column-types.ts";

/** Downloads of external files. */
export const fetches = pgTable(
  "fetches",
  {
    attemptId: int8("attempt_id").notNull(),
    /** Sequence number of its event. */
    sequence: int8("sequence").notNull(),
    url: text("url").notNull(),
    /** `BuildEventId.FetchId.Downloader` */
    downloader: integer("downloader").notNull(),
    success: boolean("success").notNull(),
  },
  (table) => [primaryKey({ columns: [table.attemptId, table.sequence] })],
);
