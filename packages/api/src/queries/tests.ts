import { testResults } from "@millrace/db/schema/test-results";
import { testSummaries } from "@millrace/db/schema/test-summaries";
import { and, asc, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { Viewer } from "../viewer.ts";
import { type LabelFilter, labelFilter } from "./label-filter.ts";
import { type Orm, read } from "./read.ts";
import { ofVisibleAttempt } from "./visible.ts";

export type TestSummaryRow = typeof testSummaries.$inferSelect;
export type TestResultRow = typeof testResults.$inferSelect;

/** Where a page of tests goes on: label and configuration of the last row before. */
export type TestPlace = readonly [string, string];

/** Test targets of one attempt, as their summaries have them, by label and configuration. */
export async function listTests(
  orm: Orm,
  viewer: Viewer,
  page: {
    attemptId: number;
    filter: LabelFilter;
    statuses: readonly number[] | undefined;
    after: TestPlace | undefined;
    limit: number;
  },
): Promise<TestSummaryRow[]> {
  const { label, configuration, overallStatus } = testSummaries;
  return read("the tests", () =>
    orm
      .select()
      .from(testSummaries)
      .where(
        and(
          ofVisibleAttempt(viewer, testSummaries.attemptId, page.attemptId),
          labelFilter(label, page.filter),
          page.statuses === undefined ? undefined : inArray(overallStatus, [...page.statuses]),
          page.after === undefined ? undefined : behind(page.after),
        ),
      )
      .orderBy(asc(label), asc(configuration))
      .limit(page.limit),
  );
}

function behind(after: TestPlace): SQL {
  return sql`(${testSummaries.label}, ${testSummaries.configuration}) > (${after[0]}, ${after[1]})`;
}

/** Where a page of results goes on: run, shard and attempt of the last row before. */
export type ResultPlace = readonly [number, number, number];

/** Every execution of one test target, by run, shard and attempt. */
export async function listTestResults(
  orm: Orm,
  viewer: Viewer,
  page: {
    attemptId: number;
    label: string;
    configuration: string;
    after: ResultPlace | undefined;
    limit: number;
  },
): Promise<TestResultRow[]> {
  const { label, configuration, run, shard, attempt } = testResults;
  const after = page.after;
  return read("the test results", () =>
    orm
      .select()
      .from(testResults)
      .where(
        and(
          ofVisibleAttempt(viewer, testResults.attemptId, page.attemptId),
          eq(label, page.label),
          eq(configuration, page.configuration),
          after === undefined
            ? undefined
            : sql`(${run}, ${shard}, ${attempt}) > (${after[0]}, ${after[1]}, ${after[2]})`,
        ),
      )
      .orderBy(asc(run), asc(shard), asc(attempt))
      .limit(page.limit),
  );
}
