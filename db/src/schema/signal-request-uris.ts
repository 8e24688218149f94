import { integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";

/** Which request stands for a commit: what keeps a head that is announced twice from being validated twice. */
export const signalRequestUris = pgTable(
  "signal_request_uris",
  {
    queue: text("queue").notNull(),
    uri: text("uri").notNull(),
    requestId: text("request_id").notNull(),
    version: integer("version").notNull(),
  },
  (table) => [primaryKey({ columns: [table.queue, table.uri] })],
);
