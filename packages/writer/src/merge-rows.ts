import type { ITargetRow, ITestResultRow, ITestSummaryRow } from "@millrace/proto/pipeline";
import type { OfAttempt } from "./store.ts";

/**
 * Merging of rows with one key, the later into the earlier: by these functions within a group, by the upserts of
 * statements/ into what is stored. Both follow the same laws, and merging is associative, so that it makes no
 * difference how events are cut into batches and batches into groups.
 */

/**
 * What is known of a target. How it ended (failure message, abort reason, completion) belongs to the status: a
 * higher one replaces it wholly, an equal one fills it up, a lower one changes nothing. What it is (kind, size,
 * tags) is whatever was said last.
 */
export function mergeTargets(earlier: ITargetRow, later: ITargetRow): ITargetRow {
  const merged: ITargetRow = { ...earlier };
  assignPresent(merged, later, descriptionFields);
  if (later.tags && later.tags.length > 0) merged.tags = later.tags;
  const rise = (later.status ?? 0) - (earlier.status ?? 0);
  if (rise < 0) return merged;
  merged.status = later.status ?? 0;
  if (rise > 0) for (const field of outcomeFields) merged[field] = null;
  assignPresent(merged, later, outcomeFields);
  return merged;
}

const descriptionFields = [
  ...(["targetKind", "testSize", "outputsSequence"] as const),
  ...(["testTimeoutMs", "overallSuccess", "overallTestStatus"] as const),
] as const;

const outcomeFields = ["failureMessage", "abortReason", "completedAtMs"] as const;

/** The later result of one run, shard and attempt, with what only the earlier one says. */
export function mergeTestResults(earlier: ITestResultRow, later: ITestResultRow): ITestResultRow {
  const merged: ITestResultRow = { ...later };
  fillAbsent(merged, earlier, ["statusDetails", "startedAtMs", "durationMs", "strategy", "exitCode"]);
  fillAbsent(merged, earlier, ["hostname", "executionInfo"]);
  if ((later.outputs?.length ?? 0) === 0 && earlier.outputs) merged.outputs = earlier.outputs;
  if ((later.warnings?.length ?? 0) === 0 && earlier.warnings) merged.warnings = earlier.warnings;
  return merged;
}

/** The later summary, with the times that only the earlier one says. */
export function mergeTestSummaries(earlier: ITestSummaryRow, later: ITestSummaryRow): ITestSummaryRow {
  const merged: ITestSummaryRow = { ...later };
  fillAbsent(merged, earlier, ["firstStartAtMs", "lastStopAtMs", "totalRunDurationMs"]);
  return merged;
}

/** What was said last of each field; a list that is empty was not said. */
export function mergePatches<P extends object>(earlier: P, later: P): P {
  const merged: P = { ...earlier };
  for (const field of Object.keys(later) as (keyof P)[]) {
    const value = later[field];
    if (Array.isArray(value) && value.length === 0) continue;
    if (value !== undefined && value !== null) merged[field] = value;
  }
  return merged;
}

/** One row per key, in the order in which each key came first. */
export function mergeByKey<R>(
  rows: readonly OfAttempt<R>[],
  by: { key: (row: R) => string; merge: (earlier: R, later: R) => R },
): OfAttempt<R>[] {
  const merged = new Map<string, OfAttempt<R>>();
  for (const { attemptId, row } of rows) {
    const key = `${attemptId}\u0000${by.key(row)}`;
    const earlier = merged.get(key);
    merged.set(key, { attemptId, row: earlier === undefined ? row : by.merge(earlier.row, row) });
  }
  return [...merged.values()];
}

export function targetKey(row: ITargetRow): string {
  return [row.label ?? "", row.aspect ?? "", row.configuration ?? ""].join("\u0000");
}

export function testResultKey(row: ITestResultRow): string {
  const action = [row.run ?? 0, row.shard ?? 0, row.attempt ?? 0];
  return [row.label ?? "", row.configuration ?? "", ...action].join("\u0000");
}

export function testSummaryKey(row: ITestSummaryRow): string {
  return [row.label ?? "", row.configuration ?? ""].join("\u0000");
}

function assignPresent<R extends object, K extends keyof R>(to: R, from: R, fields: readonly K[]): void {
  for (const field of fields) {
    const value = from[field];
    if (value !== undefined && value !== null) to[field] = value;
  }
}

function fillAbsent<R extends object, K extends keyof R>(to: R, from: R, fields: readonly K[]): void {
  for (const field of fields) {
    if (to[field] !== undefined && to[field] !== null) continue;
    const value = from[field];
    if (value !== undefined && value !== null) to[field] = value;
  }
}
