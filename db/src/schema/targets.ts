import { boolean, integer, pgTable, primaryKey, smallint, text } from "drizzle-orm/pg-core";
import { instant, int8 } from "./column-types.ts";

/** `TargetRow.Status` of pipeline.proto: ordered by how much it says. */
export const targetStatuses = ["configured", "skipped", "not-built", "aborted", "built", "failed"] as const;

/** A target of an attempt, by label, aspect and configuration. */
export const targets = pgTable(
  "targets",
  {
    attemptId: int8("attempt_id").notNull(),
    label: text("label").notNull(),
    aspect: text("aspect").notNull(),
    configuration: text("configuration").notNull(),
    /** Index into `targetStatuses`. */
    status: smallint("status").notNull(),
    targetKind: text("target_kind"),
    /** `build_event_stream.TestSize` */
    testSize: integer("test_size"),
    tags: text("tags").array(),
    failureMessage: text("failure_message"),
    abortReason: text("abort_reason"),
    completedAt: instant("completed_at"),
    /** Sequence number of the event whose outputs a block of `named_sets` has. Null also when they were too much. */
    outputsSequence: int8("outputs_seq"),
    testTimeoutMs: int8("test_timeout_ms"),
    /** Of the TargetSummary: built and, if it is a test, passed. */
    overallSuccess: boolean("overall_success"),
    /** `build_event_stream.TestStatus` */
    overallTestStatus: integer("overall_test_status"),
  },
  (table) => [primaryKey({ columns: [table.attemptId, table.label, table.aspect, table.configuration] })],
);
