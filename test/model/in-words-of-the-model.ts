import {
  type ExpectedBuild,
  type ExpectedInvocation,
  type ExpectedTarget,
  type ExpectedTestResult,
  type ExpectedTestSummary,
  targetRanks,
} from "./expected-build.ts";
import type { SaidTable } from "./reduce-said.ts";
import { saidInWords } from "./said-in-words.ts";
import type { StoredRows } from "./stored-rows.ts";

type Row = Readonly<Record<string, unknown>>;

/** The same keys, with whatever the database holds under them. */
type InWords<T> = { readonly [K in keyof T]: unknown };

/** Rows in the reducer's words, by their keys. */
export interface RowsInWords extends Readonly<Record<SaidTable, ReadonlyMap<string, object>>> {
  readonly invocation: InWords<ComparedInvocation>;
  readonly targets: ReadonlyMap<string, InWords<ExpectedTarget>>;
  readonly testResults: ReadonlyMap<string, InWords<ExpectedTestResult>>;
  readonly testSummaries: ReadonlyMap<string, InWords<ExpectedTestSummary>>;
}

/** Why a build failed is told by events the reducer leaves alone: an aborted pattern, an analysis failure. */
type ComparedInvocation = Omit<ExpectedInvocation, "failureMessage">;

const orUndefined = (value: unknown): unknown => value ?? undefined;

/** The stored rows in the reducer's words. */
export function inWordsOfTheModel(stored: StoredRows): RowsInWords {
  return {
    invocation: invocationInWords(stored.invocation),
    targets: byKey(stored.targets.map(targetInWords), targetKey),
    testResults: byKey(stored.testResults.map(testResultInWords), testResultKey),
    testSummaries: byKey(stored.testSummaries.map(testSummaryInWords), testSummaryKey),
    ...saidInWords(stored.said),
  };
}

/** The same of what the independent reducer expects. */
export function expectedInWords(expected: ExpectedBuild): RowsInWords {
  const { failureMessage: _, ...invocation } = expected.invocation;
  return {
    invocation,
    targets: byKey(expected.targets, targetKey),
    testResults: byKey(expected.testResults, testResultKey),
    testSummaries: byKey(expected.testSummaries, testSummaryKey),
    ...expected.said,
  };
}

function byKey<T>(rows: readonly T[], key: (row: T) => string): Map<string, T> {
  return new Map(rows.map((row) => [key(row), row]));
}

type TargetKey = InWords<Pick<ExpectedTarget, "label" | "aspect" | "configuration">>;
const targetKey = ({ label, aspect, configuration }: TargetKey): string =>
  `${label} ${aspect} ${configuration}`;

type ResultKey = InWords<Pick<ExpectedTestResult, "label" | "configuration" | "run" | "shard" | "attempt">>;
const testResultKey = ({ label, configuration, run, shard, attempt }: ResultKey): string =>
  `${label} ${configuration} run ${run} shard ${shard} attempt ${attempt}`;

type SummaryKey = InWords<Pick<ExpectedTestSummary, "label" | "configuration">>;
const testSummaryKey = ({ label, configuration }: SummaryKey): string => `${label} ${configuration}`;

function invocationInWords(row: Row): RowsInWords["invocation"] {
  return {
    status: row["status"],
    exitCode: orUndefined(row["exit_code"]),
    exitCodeName: orUndefined(row["exit_code_name"]),
    command: orUndefined(row["command"]),
    toolVersion: orUndefined(row["tool_version"]),
    patterns: row["patterns"] ?? [],
    user: orUndefined(row["user_name"]),
    host: orUndefined(row["host_name"]),
    workspaceDirectory: orUndefined(row["workspace_directory"]),
    workingDirectory: orUndefined(row["working_directory"]),
    startedAtMs: orUndefined(row["startedAtMs"]),
    finishedAtMs: orUndefined(row["finishedAtMs"]),
    actionsExecuted: orUndefined(row["actions_executed"]),
    wallTimeMs: orUndefined(row["wall_time_ms"]),
    cpuTimeMs: orUndefined(row["cpu_time_ms"]),
    counters: {
      targetsTotal: row["targets_total"],
      targetsFailed: row["targets_failed"],
      testsTotal: row["tests_total"],
      testsPassed: row["tests_passed"],
      testsFlaky: row["tests_flaky"],
      testsFailed: row["tests_failed"],
    },
  };
}

function targetInWords(row: Row): InWords<ExpectedTarget> {
  return {
    label: row["label"],
    aspect: row["aspect"],
    configuration: row["configuration"],
    status: targetRanks[Number(row["status"])],
    targetKind: orUndefined(row["target_kind"]),
    testSize: orUndefined(row["test_size"]),
    tags: row["tags"] ?? [],
    failureMessage: orUndefined(row["failure_message"]),
    abortReason: orUndefined(row["abort_reason"]),
    completedAtMs: orUndefined(row["completedAtMs"]),
  };
}

function testResultInWords(row: Row): InWords<ExpectedTestResult> {
  return {
    label: row["label"],
    configuration: row["configuration"],
    run: row["run"],
    shard: row["shard"],
    attempt: row["attempt"],
    status: row["status"],
    statusDetails: orUndefined(row["status_details"]),
    startedAtMs: orUndefined(row["startedAtMs"]),
    durationMs: orUndefined(row["duration_ms"]),
    cachedLocally: row["cached_locally"],
    cachedRemotely: row["cached_remotely"],
    strategy: orUndefined(row["strategy"]),
    exitCode: orUndefined(row["exit_code"]),
    outputs: row["outputs"] ?? [],
  };
}

function testSummaryInWords(row: Row): InWords<ExpectedTestSummary> {
  return {
    label: row["label"],
    configuration: row["configuration"],
    overallStatus: row["overall_status"],
    totalRunCount: row["total_run_count"],
    runCount: row["run_count"],
    attemptCount: row["attempt_count"],
    shardCount: row["shard_count"],
    totalNumCached: row["total_num_cached"],
    firstStartAtMs: orUndefined(row["firstStartAtMs"]),
    lastStopAtMs: orUndefined(row["lastStopAtMs"]),
    totalRunDurationMs: orUndefined(row["total_run_duration_ms"]),
  };
}
