import { latch } from "@millrace/base/latch";
import { LifecycleKind } from "@millrace/proto/pipeline";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { LifecycleInbox, type LifecycleState, mergeLifecycle, readLifecycle } from "./lifecycle.ts";

const call = { project: "default", buildId: "b", invocationId: "i", component: 3, sequence: 1 };

test("a start tells when, a finish tells when and how", () => {
  expect(
    readLifecycle({ ...call, kind: LifecycleKind.INVOCATION_ATTEMPT_STARTED, eventTimeMs: 5 }),
  ).toMatchObject({
    startedAtMs: 5,
    finishedAtMs: undefined,
    result: undefined,
  });
  expect(
    readLifecycle({ ...call, kind: LifecycleKind.BUILD_FINISHED, eventTimeMs: 9, result: 1 }),
  ).toMatchObject({ startedAtMs: undefined, finishedAtMs: 9, result: 1 });
});

test("order, repeats and grouping of calls make no difference", () => {
  // One result for each time: two finishes at one instant with different results have no right answer.
  const states: fc.Arbitrary<LifecycleState> = fc
    .record({
      lastSequence: fc.integer({ min: 1, max: 4 }),
      attemptNumber: fc.integer({ min: 0, max: 2 }),
      startedAtMs: fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }),
      finishedAtMs: fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }),
    })
    .map((state) => ({ ...readLifecycle(call), ...state, result: state.finishedAtMs }));
  fc.assert(
    fc.property(states, states, states, (a, b, c) => {
      expect(mergeLifecycle(a, b)).toEqual(mergeLifecycle(b, a));
      expect(mergeLifecycle(a, a)).toEqual(a);
      expect(mergeLifecycle(mergeLifecycle(a, b), c)).toEqual(mergeLifecycle(a, mergeLifecycle(b, c)));
    }),
  );
});

test("calls that come during a transaction join the next, merged by row", async () => {
  const groups: LifecycleState[][] = [];
  const first = latch();
  const inbox = new LifecycleInbox({
    merge: async (states) => {
      groups.push([...states]);
      if (groups.length === 1) await first.promise;
    },
  });
  const offered = [1, 2, 3].map((sequence) => inbox.offer({ calls: [{ ...call, sequence }] }));
  offered.push(inbox.offer({ calls: [{ ...call, invocationId: "other", sequence: 7 }] }));
  first.open();
  await Promise.all(offered);
  expect(groups.map((group) => group.map((state) => state.lastSequence))).toEqual([[1], [3, 7]]);
});

test("a group that fails answers nobody, and the next one is stored all the same", async () => {
  let isAway = true;
  const inbox = new LifecycleInbox({
    merge: async () => {
      if (isAway) throw new Error("away");
    },
  });
  await expect(inbox.offer({ calls: [call] })).rejects.toThrow("away");
  isAway = false;
  expect(await inbox.offer({ calls: [call] })).toEqual({});
});
