import { integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { instant, int8 } from "./column-types.ts";

/** What Bazel says about a test target as a whole; the authority on its overall status. */
export const testSummaries = pgTable(
  "test_summaries",
  {
    attemptId: int8("attempt_id").notNull(),
    label: text("label").notNull(),
    configuration: text("configuration").notNull(),
    /** `build_event_stream.TestStatus`; unknown numbers are kept. */
    overallStatus: integer("overall_status").notNull(),
    totalRunCount: integer("total_run_count").notNull(),
    runCount: integer("run_count").notNull(),
    attemptCount: integer("attempt_count").notNull(),
    shardCount: integer("shard_count").notNull(),
    totalNumCached: integer("total_num_cached").notNull(),
    firstStartAt: instant("first_start_at"),
    lastStopAt: instant("last_stop_at"),
    totalRunDurationMs: int8("total_run_duration_ms"),
  },
  (table) => [primaryKey({ columns: [table.attemptId, table.label, table.configuration] })],
);
