import { boolean, integer, jsonb, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { bytea, instant, int8 } from "./column-types.ts";

export interface NamedUri {
  readonly name: string;
  readonly uri: string;
}

/** One execution of a test action: run, shard and attempt of a test target. */
export const testResults = pgTable(
  "test_results",
  {
    attemptId: int8("attempt_id").notNull(),
    label: text("label").notNull(),
    configuration: text("configuration").notNull(),
    run: integer("run").notNull(),
    shard: integer("shard").notNull(),
    attempt: integer("attempt").notNull(),
    /** `build_event_stream.TestStatus`; unknown numbers are kept. */
    status: integer("status").notNull(),
    statusDetails: text("status_details"),
    startedAt: instant("started_at"),
    durationMs: int8("duration_ms"),
    cachedLocally: boolean("cached_locally").notNull(),
    cachedRemotely: boolean("cached_remotely").notNull(),
    strategy: text("strategy"),
    exitCode: integer("exit_code"),
    outputs: jsonb("outputs").$type<NamedUri[]>(),
    hostname: text("hostname"),
    warnings: text("warnings").array(),
    /** `build_event_stream.TestResult.ExecutionInfo`: timing breakdown, resource usage, timeout. */
    executionInfo: bytea("execution_info"),
  },
  (table) => [
    primaryKey({
      columns: [table.attemptId, table.label, table.configuration, table.run, table.shard, table.attempt],
    }),
  ],
);
