import { integer, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./column-types.ts";

export const signalConfigOrigins = ["file", "api"] as const;

/**
 * How the queues of the build-signal controller are configured. Rows of origin `file` are what the controllers' file says,
 * written when one starts, to be shown; rows of origin `api` are the configuration.
 */
export const signalQueueConfigs = pgTable("signal_queue_configs", {
  name: text("name").primaryKey(),
  projectId: text("project_id").notNull(),
  origin: text("origin", { enum: signalConfigOrigins }).notNull(),
  /** As it was given; credentials stand in it by name only. */
  config: jsonb("config").notNull(),
  version: integer("version").notNull(),
  updatedAt: instant("updated_at").notNull(),
});
