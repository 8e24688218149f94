import { index, pgTable, text, unique } from "drizzle-orm/pg-core";
import { bytea, instant, int8 } from "./column-types.ts";

/** Keys of machines. The key itself is shown once and never stored. */
export const apiKeys = pgTable(
  "api_keys",
  {
    id: text("id").primaryKey(),
    projectId: text("project_id").notNull(),
    keySha256: bytea("key_sha256").notNull(),
    scopes: text("scopes").array().notNull(),
    createdAt: instant("created_at").notNull().defaultNow(),
    expiresAt: instant("expires_at"),
    revokedAt: instant("revoked_at"),
    /** Limits; 0 means none. */
    openStreamsMax: int8("open_streams_max").notNull().default(0),
    eventsPerSecondMax: int8("events_per_second_max").notNull().default(0),
    bytesPerSecondMax: int8("bytes_per_second_max").notNull().default(0),
    /** What it is for, as its maker said. */
    name: text("name").notNull().default(""),
    /** Coarse: up to ten minutes late. */
    lastUsedAt: instant("last_used_at"),
    /** Id of the key that a rotation made in its place. */
    replacedBy: text("replaced_by"),
  },
  (table) => [
    unique("api_keys_by_sha256").on(table.keySha256),
    index("api_keys_by_project").on(table.projectId, table.createdAt.desc()),
  ],
);
