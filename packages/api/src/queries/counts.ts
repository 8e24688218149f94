import { targets } from "@millrace/db/schema/targets";
import { testSummaries } from "@millrace/db/schema/test-summaries";
import { type SQL, sql } from "drizzle-orm";
import type { Viewer } from "../viewer.ts";
import type { AttemptRow } from "./attempts.ts";
import { type Orm, read } from "./read.ts";
import { ofVisibleAttempts } from "./visible.ts";

/** How many targets and tests an attempt has, by outcome. */
export interface Counts {
  readonly targets: { total: number; done: number; failed: number };
  readonly tests: { total: number; passed: number; failed: number; flaky: number };
}

/** Of an attempt without targets and tests. */
export const noCounts: Counts = {
  targets: { total: 0, done: 0, failed: 0 },
  tests: { total: 0, passed: 0, failed: 0, flaky: 0 },
};

/** Counts by attempt id: of a running one as its rows stand now, of an ended one as its end wrote them. */
export async function countsOf(
  orm: Orm,
  viewer: Viewer,
  attempts: readonly AttemptRow[],
): Promise<Map<number, Counts>> {
  const counts = new Map<number, Counts>();
  const running: number[] = [];
  for (const { invocation } of attempts) {
    if (invocation.targetsTotal === null || invocation.status === "running")
      running.push(invocation.attemptId);
    else counts.set(invocation.attemptId, endedCounts(invocation));
  }
  if (running.length === 0) return counts;
  const [targetRows, testRows] = await Promise.all([
    countTargets(orm, ofVisibleAttempts(viewer, targets.attemptId, running)),
    countTests(orm, ofVisibleAttempts(viewer, testSummaries.attemptId, running)),
  ]);
  for (const attemptId of running) {
    const target = targetRows.find((row) => row.attemptId === attemptId);
    const test = testRows.find((row) => row.attemptId === attemptId);
    counts.set(attemptId, {
      targets: target === undefined ? noCounts.targets : pick(target, ["total", "done", "failed"]),
      tests: test === undefined ? noCounts.tests : pick(test, ["total", "passed", "failed", "flaky"]),
    });
  }
  return counts;
}

function endedCounts(invocation: AttemptRow["invocation"]): Counts {
  const total = invocation.targetsTotal ?? 0;
  return {
    targets: { total, done: total, failed: invocation.targetsFailed ?? 0 },
    tests: {
      total: invocation.testsTotal ?? 0,
      passed: invocation.testsPassed ?? 0,
      failed: invocation.testsFailed ?? 0,
      flaky: invocation.testsFlaky ?? 0,
    },
  };
}

// Numbers are those of `targetStatuses` and of build_event_stream.TestStatus.
function countTargets(orm: Orm, which: SQL) {
  return read("the targets", () =>
    orm
      .select({
        attemptId: targets.attemptId,
        total: sql<number>`count(*)::int`,
        done: sql<number>`(count(*) filter (where ${targets.status} > 0))::int`,
        failed: sql<number>`(count(*) filter (where ${targets.status} = 5))::int`,
      })
      .from(targets)
      .where(which)
      .groupBy(targets.attemptId),
  );
}

function countTests(orm: Orm, which: SQL) {
  return read("the tests", () =>
    orm
      .select({
        attemptId: testSummaries.attemptId,
        total: sql<number>`count(*)::int`,
        passed: sql<number>`(count(*) filter (where ${testSummaries.overallStatus} = 1))::int`,
        flaky: sql<number>`(count(*) filter (where ${testSummaries.overallStatus} = 2))::int`,
        failed: sql<number>`(count(*) filter (where ${testSummaries.overallStatus} in (3, 4, 6, 7)))::int`,
      })
      .from(testSummaries)
      .where(which)
      .groupBy(testSummaries.attemptId),
  );
}

function pick<T, K extends keyof T>(from: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<T, K>;
}
