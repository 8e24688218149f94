import { pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./column-types.ts";

/** A hard boundary around builds, keys and members. The slug is the id, for ever. */
export const projects = pgTable("projects", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  createdAt: instant("created_at").notNull().defaultNow(),
});
