import { index, integer, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./column-types.ts";

export const signalBuildStatuses = ["accepted", "running", "succeeded", "failed", "cancelled"] as const;

/** A build that a runner runs for a request. A terminal status is written once and never changes. */
export const signalBuilds = pgTable(
  "signal_builds",
  {
    /** `<queue>/<handle>`: two runners may give the same handle. */
    id: text("id").primaryKey(),
    queue: text("queue").notNull(),
    /** The runner's own id. */
    handle: text("handle").notNull(),
    requestId: text("request_id").notNull(),
    status: text("status", { enum: signalBuildStatuses }).notNull(),
    /** Beside a terminal status: why it is no verdict about the commit. */
    reason: text("reason"),
    providerState: text("provider_state").notNull().default(""),
    url: text("url").notNull().default(""),
    metadata: jsonb("metadata").$type<Readonly<Record<string, string>>>().notNull().default({}),
    createdAt: instant("created_at").notNull(),
    /** Not terminal by then: cancelled and `failed` with reason `timed_out`. */
    deadlineAt: instant("deadline_at").notNull(),
    version: integer("version").notNull(),
  },
  (table) => [index("signal_builds_by_request").on(table.requestId)],
);
