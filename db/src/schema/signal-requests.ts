import { sql } from "drizzle-orm";
import { index, integer, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { instant, int8 } from "./column-types.ts";

export const signalRequestStates = [
  "accepted",
  "processing",
  "superseded",
  "succeeded",
  "failed",
  "cancelled",
] as const;

export const signalStrategies = ["", "incremental_since_green", "full"] as const;

/** A commit that a queue validates. Changed by compare-and-set on `version` only. */
export const signalRequests = pgTable(
  "signal_requests",
  {
    /** `request/<queue>/<number>`. */
    id: text("id").primaryKey(),
    queue: text("queue").notNull(),
    number: int8("number").notNull(),
    uri: text("uri").notNull(),
    strategy: text("strategy", { enum: signalStrategies }).notNull().default(""),
    /** The last green commit of an incremental build; empty otherwise. */
    baseUri: text("base_uri").notNull().default(""),
    state: text("state", { enum: signalRequestStates }).notNull(),
    /** Why it ended without a verdict of a build; null beside `succeeded` and `failed`: the build's own verdict. */
    reason: text("reason"),
    buildId: text("build_id"),
    metadata: jsonb("metadata").$type<Readonly<Record<string, string>>>().notNull().default({}),
    createdAt: instant("created_at").notNull(),
    version: integer("version").notNull(),
  },
  (table) => [
    index("signal_requests_by_number").on(table.queue, table.number),
    index("signal_requests_by_state").on(table.queue, table.state, table.number),
    index("signal_requests_open").on(table.queue).where(sql`state in ('accepted', 'processing')`),
  ],
);
