import { pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./column-types.ts";

/** Migrations that were applied, by file name. */
export const schemaMigrations = pgTable("schema_migrations", {
  name: text("name").primaryKey(),
  appliedAt: instant("applied_at").notNull().defaultNow(),
});
