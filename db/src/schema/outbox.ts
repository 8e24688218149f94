import { sql } from "drizzle-orm";
import { index, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { instant, int8 } from "./column-types.ts";

/**
 * Facts on their way to JetStream, written by the transaction that makes them true. A row stays 10 min after
 * its publication: JetStream acknowledges before its disk does.
 */
export const outbox = pgTable(
  "outbox",
  {
    id: int8("id").primaryKey().generatedAlwaysAsIdentity(),
    projectId: text("project_id").notNull(),
    subject: text("subject").notNull(),
    /** The CloudEvents envelope; its `id` is the message id. */
    event: jsonb("event").notNull(),
    createdAt: instant("created_at").notNull().defaultNow(),
    publishedAt: instant("published_at"),
    /** Identity of the stream that took it; another one now means: publish again. */
    publishedTo: text("published_to"),
  },
  (table) => [index("outbox_unpublished").on(table.id).where(sql`published_at is null`)],
);
