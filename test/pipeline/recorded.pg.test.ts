import { connect, type Database } from "@millrace/db/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listRuns } from "../model/corpus.ts";
import type { ExpectedBuild } from "../model/expected-build.ts";
import { targetRanks } from "../model/expected-build.ts";
import { reduceEvents } from "../model/reduce.ts";
import { freshDatabase, type TestDatabase } from "../services/database.ts";
import { type LocalPipeline, startLocalPipeline } from "./local-pipeline.ts";
import { readStoredBuild, type StoredBuild } from "./stored-build.ts";
import { uploadsOf } from "./uploads.ts";

let fresh: TestDatabase;
let database: Database;
let pipeline: LocalPipeline;

beforeAll(async () => {
  fresh = await freshDatabase();
  database = connect({ url: fresh.url, max: 1, name: "recorded" });
  pipeline = await startLocalPipeline(fresh.url);
});

afterAll(async () => {
  await pipeline.close();
  await database.close();
  await fresh.drop();
});

const orUndefined = (value: unknown): unknown => value ?? undefined;

/** The stored rows in the reducer's words. */
function inWordsOfTheModel(stored: StoredBuild) {
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
function expectedOf(expected: ExpectedBuild) {
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

function sorted<T extends { targets: unknown[]; testResults: unknown[]; testSummaries: unknown[] }>(
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

test.each(listRuns().map((run) => [run.name, run] as const))(
  "%s is stored as it was sent",
  async (_, run) => {
    for (const upload of uploadsOf(run)) {
      await pipeline.upload({ ...upload });
      const stored = await readStoredBuild(database, upload.invocationId);
      const expected = reduceEvents(upload.events.map((event, index) => ({ sequence: index + 1, event })));
      expect(stored.events.length).toBe(upload.events.length);
      for (const [index, event] of upload.events.entries()) {
        expect(Buffer.compare(stored.events[index] ?? Buffer.alloc(0), event), `event ${index + 1}`).toBe(0);
      }
      expect(stored.log.equals(expected.log)).toBe(true);
      const rows = sorted(inWordsOfTheModel(stored));
      // While a build runs its totals are counted when they are read.
      const counters = expected.ended ? expected.invocation.counters : rows.counters;
      expect(rows).toEqual({ ...sorted(expectedOf(expected)), counters });
    }
  },
);
