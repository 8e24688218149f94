import { z } from "@hono/zod-openapi";
import { protocolName, testStatus } from "@millrace/proto/bep/enums";
import type { TestResultRow, TestSummaryRow } from "../queries/tests.ts";
import { timeSchema, timeText } from "./names.ts";

const count = z.number().int();

/** Bazel's words for how a test ended, as build_event_stream.TestStatus has them. */
export const testStatusNames = Object.values(testStatus).map((number) => protocolName(testStatus, number));

const statusSchema = z.string().openapi({
  description: `One of ${testStatusNames.join(", ")}, or a number that is newer than this server`,
  example: "PASSED",
});

/** A test target as its summary has it. */
export const testSchema = z
  .object({
    label: z.string(),
    configuration: z.string(),
    status: statusSchema,
    runs: count,
    shards: count,
    attempts: count,
    cached: count.openapi({ description: "How many executions came from a cache" }),
    startedAt: timeSchema,
    stoppedAt: timeSchema,
    durationMs: count.nullable().openapi({ description: "Sum over all executions" }),
  })
  .openapi("Test");

export type Test = z.infer<typeof testSchema>;

/** One execution: a run, a shard, an attempt. */
export const testResultSchema = z
  .object({
    run: count,
    shard: count,
    attempt: count,
    status: statusSchema,
    statusDetails: z.string().nullable(),
    startedAt: timeSchema,
    durationMs: count.nullable(),
    cachedLocally: z.boolean(),
    cachedRemotely: z.boolean(),
    strategy: z.string().nullable(),
    exitCode: count.nullable(),
    outputs: z.array(z.object({ name: z.string(), uri: z.string() })),
  })
  .openapi("TestResult");

export type TestResult = z.infer<typeof testResultSchema>;

export function presentTest(row: TestSummaryRow): Test {
  return {
    label: row.label,
    configuration: row.configuration,
    status: protocolName(testStatus, row.overallStatus),
    runs: row.runCount,
    shards: row.shardCount,
    attempts: row.attemptCount,
    cached: row.totalNumCached,
    startedAt: timeText(row.firstStartAt),
    stoppedAt: timeText(row.lastStopAt),
    durationMs: row.totalRunDurationMs,
  };
}

export function presentTestResult(row: TestResultRow): TestResult {
  return {
    run: row.run,
    shard: row.shard,
    attempt: row.attempt,
    status: protocolName(testStatus, row.status),
    statusDetails: row.statusDetails,
    startedAt: timeText(row.startedAt),
    durationMs: row.durationMs,
    cachedLocally: row.cachedLocally,
    cachedRemotely: row.cachedRemotely,
    strategy: row.strategy,
    exitCode: row.exitCode,
    outputs: row.outputs ?? [],
  };
}
