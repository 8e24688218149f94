import { sql } from "drizzle-orm";
import { boolean, index, integer, pgTable, text } from "drizzle-orm/pg-core";
import { instant, int8 } from "./column-types.ts";

/** Where an attempt stands. All but `running` are final, though a later valid batch may reopen a swept one. */
export const invocationStatuses = [
  "running",
  "succeeded",
  "failed",
  "interrupted",
  "disconnected",
  "aborted",
] as const;
export type InvocationStatus = (typeof invocationStatuses)[number];

/** What people see of an attempt. Written at its start, when a shown value changes, and at its end. */
export const invocations = pgTable(
  "invocations",
  {
    attemptId: int8("attempt_id").primaryKey(),
    projectId: text("project_id").notNull(),
    invocationId: text("invocation_id").notNull(),
    attempt: integer("attempt").notNull(),
    buildId: text("build_id").notNull().default(""),
    status: text("status", { enum: invocationStatuses }).notNull().default("running"),
    /** Some batch was stored without its derived rows; `dead_letters` says why. */
    partial: boolean("partial").notNull().default(false),
    createdAt: instant("created_at").notNull().defaultNow(),
    endedAt: instant("ended_at"),

    command: text("command"),
    toolVersion: text("tool_version"),
    startedAt: instant("started_at"),
    finishedAt: instant("finished_at"),
    exitCode: integer("exit_code"),
    exitCodeName: text("exit_code_name"),
    failureMessage: text("failure_message"),
    user: text("user_name"),
    host: text("host_name"),
    workspaceDirectory: text("workspace_directory"),
    workingDirectory: text("working_directory"),
    patterns: text("patterns").array(),
    branch: text("branch"),
    commit: text("commit_sha"),
    repositoryUrl: text("repository_url"),
    role: text("role"),
    cpu: text("cpu"),
    platform: text("platform"),
    actionsExecuted: int8("actions_executed"),
    wallTimeMs: int8("wall_time_ms"),
    cpuTimeMs: int8("cpu_time_ms"),
    abortReason: text("abort_reason"),

    /** Received events that could not be decoded and are stored raw only; grows while the stream runs. */
    undecodedEvents: int8("undecoded_events").notNull().default(0),

    /** From here on: null until the attempt ends; while it runs, `stream_positions` and its carry know. */
    eventCount: int8("event_count"),
    logBytes: int8("log_bytes"),
    logLines: int8("log_lines"),
    targetsTotal: integer("targets_total"),
    targetsFailed: integer("targets_failed"),
    testsTotal: integer("tests_total"),
    testsPassed: integer("tests_passed"),
    testsFailed: integer("tests_failed"),
    testsFlaky: integer("tests_flaky"),

    /** By Bazel's clock where it gave both times, else by the database's; the migration has the expression. */
    durationMs: int8("duration_ms").generatedAlwaysAs(sql`(see migration 0008)`),
  },
  (table) => [
    index("invocations_by_project").on(table.projectId, table.attemptId.desc().nullsFirst()),
    index("invocations_by_build").on(table.projectId, table.buildId),
    index("invocations_running").on(table.attemptId).where(sql`status = 'running'`),
    index("invocations_by_user").on(table.projectId, table.user, table.attemptId.desc().nullsFirst()),
    index("invocations_by_branch")
      .on(table.projectId, table.branch, table.attemptId.desc().nullsFirst())
      .where(sql`branch is not null`),
    index("invocations_by_commit")
      .on(table.projectId, table.commit.op("text_pattern_ops"))
      .where(sql`commit_sha is not null`),
    index("invocations_gone_wrong")
      .on(table.projectId, table.attemptId.desc().nullsFirst())
      .where(sql`status in ('failed', 'interrupted', 'disconnected', 'aborted')`),
    index("invocations_by_duration")
      .on(table.projectId, table.durationMs.desc().nullsFirst(), table.attemptId.desc().nullsFirst())
      .where(sql`duration_ms is not null`),
  ],
);
