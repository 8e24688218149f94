import { integer, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { instant, int8 } from "./column-types.ts";

/** Who holds a slot of a queue. Milliseconds since the epoch. */
export interface SlotColumn {
  readonly owner: string;
  readonly claimedAtMs: number;
  readonly expiresAtMs: number;
}

/** A validated branch of the build-signal controller and its slots. Changed by compare-and-set on `version` only. */
export const signalQueues = pgTable("signal_queues", {
  name: text("name").primaryKey(),
  projectId: text("project_id").notNull(),
  /** Number of the newest request; numbers are never given twice. */
  lastNumber: int8("last_number").notNull().default(0),
  latestRequestId: text("latest_request_id").notNull().default(""),
  lastGreenUri: text("last_green_uri").notNull().default(""),
  lastGreenRequestId: text("last_green_request_id").notNull().default(""),
  slots: jsonb("slots").$type<readonly SlotColumn[]>().notNull().default([]),
  /** No request is admitted before. */
  nextAdmissionAt: instant("next_admission_at"),
  version: integer("version").notNull(),
});
