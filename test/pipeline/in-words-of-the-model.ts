import type { ExpectedBuild } from "../model/expected-build.ts";
import { targetRanks } from "../model/expected-build.ts";
import type { StoredBuild } from "./stored-build.ts";

const orUndefined = (value: unknown): unknown => value ?? undefined;

/** The stored rows in the reducer's words. */
export function inWordsOfTheModel(stored: StoredBuild) {
  const { invocation } = stored;
  return {
    status: invocation["status"],
    exitCode: orUndefined(invocation["exit_code"]),
    exitCodeName: orUndefined(invocation["exit_code_name"]),
    command: orUndefined(invocation["command"]),
    patterns: invocation["patterns"] ?? [],
    startedAtMs: orUndefined(invocation["startedAtMs"]),
    finishedAtMs: orUndefined(invocation["finishedAtMs"]),
    counters: {
      targetsTotal: invocation["targets_total"],
      targetsFailed: invocation["targets_failed"],
      testsTotal: invocation["tests_total"],
      testsPassed: invocation["tests_passed"],
      testsFlaky: invocation["tests_flaky"],
      testsFailed: invocation["tests_failed"],
    },
    targets: stored.targets.map((row) => ({
      label: row["label"],
      aspect: row["aspect"],
      configuration: row["configuration"],
      status: targetRanks[Number(row["status"])],
      targetKind: orUndefined(row["target_kind"]),
      abortReason: orUndefined(row["abort_reason"]),
      completedAtMs: orUndefined(row["completedAtMs"]),
    })),
    testResults: stored.testResults.map((row) => ({
      label: row["label"],
      configuration: row["configuration"],
      run: row["run"],
      shard: row["shard"],
      attempt: row["attempt"],
      status: row["status"],
      startedAtMs: orUndefined(row["startedAtMs"]),
      durationMs: orUndefined(row["durationMs"]),
    })),
    testSummaries: stored.testSummaries.map((row) => ({
      label: row["label"],
      configuration: row["configuration"],
      overallStatus: row["overall_status"],
      totalRunCount: row["total_run_count"],
      attemptCount: row["attempt_count"],
      shardCount: row["shard_count"],
    })),
  };
}

/** The same selection of what the independent reducer expects. */
export function expectedOf(expected: ExpectedBuild) {
  const { invocation } = expected;
  const { status, exitCode, exitCodeName, command, patterns, startedAtMs, finishedAtMs, counters } =
    invocation;
  return {
    ...{ status, exitCode, exitCodeName, command, patterns, startedAtMs, finishedAtMs, counters },
    targets: expected.targets.map(
      ({ label, aspect, configuration, status, targetKind, abortReason, completedAtMs }) => ({
        ...{ label, aspect, configuration, status, targetKind, abortReason, completedAtMs },
      }),
    ),
    testResults: expected.testResults.map(
      ({ label, configuration, run, shard, attempt, status, startedAtMs, durationMs }) => ({
        ...{ label, configuration, run, shard, attempt, status, startedAtMs, durationMs },
      }),
    ),
    testSummaries: expected.testSummaries.map(
      ({ label, configuration, overallStatus, totalRunCount, attemptCount, shardCount }) => ({
        ...{ label, configuration, overallStatus, totalRunCount, attemptCount, shardCount },
      }),
    ),
  };
}

export function sorted<T extends { targets: unknown[]; testResults: unknown[]; testSummaries: unknown[] }>(
  rows: T,
): T {
  const byText = (list: unknown[]) =>
    [...list].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return {
    ...rows,
    targets: byText(rows.targets),
    testResults: byText(rows.testResults),
    testSummaries: byText(rows.testSummaries),
  };
}
