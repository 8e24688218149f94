import type { IInvocationPatch, ITargetRow, ITestResultRow } from "@millrace/proto/pipeline";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { mergeByKey, mergePatches, mergeTargets, mergeTestResults, targetKey } from "./merge-rows.ts";
import { targetRows } from "./rows.fixture.ts";

const text = fc.option(fc.constantFrom("x", "y", "z"), { nil: null });
const number = fc.option(fc.integer({ min: 0, max: 3 }), { nil: null });
const list = fc.array(fc.constantFrom("p", "q"), { maxLength: 2 });

const results: fc.Arbitrary<ITestResultRow> = fc.record({
  status: fc.integer({ min: 0, max: 8 }),
  statusDetails: text,
  durationMs: number,
  exitCode: number,
  cachedLocally: fc.boolean(),
  outputs: fc.array(fc.record({ name: fc.constantFrom("a", "b"), uri: fc.constant("u") }), { maxLength: 2 }),
});

const patches: fc.Arbitrary<IInvocationPatch> = fc.record(
  { command: text, exitCode: number, branch: text, patterns: list },
  { requiredKeys: [] },
);

/** Rows as the statements see them: absent and empty are the same. */
function plain(value: object): unknown {
  const present = Object.entries(value).filter(
    ([, one]) => one !== null && one !== undefined && !(Array.isArray(one) && one.length === 0),
  );
  return Object.fromEntries(present);
}

function associative<R extends object>(rows: fc.Arbitrary<R>, merge: (earlier: R, later: R) => R): void {
  fc.assert(
    fc.property(rows, rows, rows, (a, b, c) => {
      expect(plain(merge(merge(a, b), c))).toEqual(plain(merge(a, merge(b, c))));
    }),
  );
}

test("how rows are cut into groups makes no difference", () => {
  associative(targetRows, mergeTargets);
  associative(results, mergeTestResults);
  associative(patches, mergePatches);
});

test("the highest status wins whatever the order, and brings its own outcome", () => {
  fc.assert(
    fc.property(fc.array(targetRows, { minLength: 1, maxLength: 6 }), (rows) => {
      const merged = rows.reduce(mergeTargets);
      const highest = Math.max(...rows.map((row) => row.status ?? 0));
      expect(merged.status ?? 0).toBe(highest);
      const reasons = rows
        .filter((row) => (row.status ?? 0) === highest)
        .map((row) => row.abortReason ?? null);
      expect([...reasons, null]).toContain(merged.abortReason ?? null);
    }),
  );
});

test("a target that is built after all has no abort reason", () => {
  const aborted: ITargetRow = {
    label: "//a",
    status: 3,
    abortReason: "ANALYSIS_FAILURE",
    targetKind: "rule",
  };
  const built: ITargetRow = { label: "//a", status: 4, completedAtMs: 5 };
  expect(mergeTargets(aborted, built)).toMatchObject({
    status: 4,
    abortReason: null,
    completedAtMs: 5,
    targetKind: "rule",
  });
  expect(mergeTargets(built, aborted)).toMatchObject({ status: 4, completedAtMs: 5, targetKind: "rule" });
  expect(mergeTargets(built, aborted).abortReason ?? null).toBeNull();
});

test("rows of one key and attempt become one, others stay apart", () => {
  const rows = [
    { attemptId: 1, row: { label: "//a", status: 0 } },
    { attemptId: 2, row: { label: "//a", status: 0 } },
    { attemptId: 1, row: { label: "//a", aspect: "x", status: 0 } },
    { attemptId: 1, row: { label: "//a", status: 5 } },
  ];
  expect(mergeByKey<ITargetRow>(rows, { key: targetKey, merge: mergeTargets })).toEqual([
    { attemptId: 1, row: expect.objectContaining({ label: "//a", status: 5 }) },
    { attemptId: 2, row: { label: "//a", status: 0 } },
    { attemptId: 1, row: { label: "//a", aspect: "x", status: 0 } },
  ]);
});
