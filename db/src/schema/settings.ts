import { jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./column-types.ts";

/** Facts about this installation. `server_secret` (32 bytes as hex) authenticates event 1 of every stream. */
export const settings = pgTable("settings", {
  name: text("name").primaryKey(),
  value: jsonb("value").notNull(),
  updatedAt: instant("updated_at").notNull().defaultNow(),
});
