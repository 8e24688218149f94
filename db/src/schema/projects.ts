import { integer, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./column-types.ts";

/** A hard boundary around builds, keys and members. The slug is the id, for ever. */
export const projects = pgTable("projects", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  createdAt: instant("created_at").notNull().defaultNow(),
  /** Days after its end for which an attempt's events and log are kept. */
  rawDays: integer("raw_days").notNull().default(14),
  /** Days after its end for which anything of an attempt is kept. */
  buildDays: integer("build_days").notNull().default(90),
  /** Days for which the spawns of an execution log are kept. */
  spawnDays: integer("spawn_days").notNull().default(30),
});
