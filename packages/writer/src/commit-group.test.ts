import { systemRandom } from "@millrace/base/random";
import { ScriptedClock } from "@millrace/base/scripted-clock";
import { expect, test } from "vitest";
import { commitGroup } from "./commit-group.ts";
import { noMetrics } from "./metrics.ts";
import type { CommitStore, CommitTx } from "./store.ts";
import { batchWork, releaseWork, taskOf } from "./works.fixture.ts";

/** A store that knows attempt 1 of "owner" with 10 events, and lets a test look at the moment of COMMIT. */
function storeWith(atCommit: () => void | Promise<void>): { store: CommitStore; calls: string[] } {
  const calls: string[] = [];
  const known: Partial<CommitTx> = {
    lockPositions: async (attemptIds) =>
      attemptIds.map((attemptId) => ({
        attemptId,
        state: "locked",
        position: {
          owner: Buffer.from("owner").toString("hex"),
          committed: 10,
          finished: false,
          swept: false,
        },
      })),
    advanceFence: async (rows) => rows.map(({ attemptId, owner }) => ({ attemptId, owner })),
  };
  const tx = new Proxy(known, {
    get: (target, name) => async (rows: never) => {
      calls.push(String(name));
      const method = Reflect.get(target, name) as ((rows: never) => Promise<unknown>) | undefined;
      return method?.(rows);
    },
  }) as CommitTx;
  return {
    calls,
    store: {
      transact: async (work) => {
        const result = await work(tx);
        calls.push("commit");
        await atCommit();
        return result;
      },
    },
  };
}

function contextOf(store: CommitStore, reached: string[] = []) {
  return {
    store,
    clock: new ScriptedClock(),
    random: systemRandom,
    resumeWithHole: false,
    points: { reach: (name: string) => void reached.push(name) },
    metrics: noMetrics,
  };
}

test("a notice leaves only after COMMIT was answered", async () => {
  const task = taskOf(batchWork({ attemptId: 1, first: 11, last: 12 }));
  const { store } = storeWith(() => expect(task.reply()).toBeUndefined());
  await commitGroup([task], contextOf(store));
  expect(task.reply()).toEqual({ committed: { lastSequence: 12, partial: false } });
});

test("when COMMIT fails nobody is told anything", async () => {
  const tasks = [taskOf(batchWork({ attemptId: 1, first: 11, last: 12 })), taskOf(releaseWork(2))];
  const { store } = storeWith(() => Promise.reject(new Error("gone")));
  await expect(commitGroup(tasks, contextOf(store))).rejects.toThrow("gone");
  expect(tasks.map((task) => task.reply() ?? task.item.wait)).toEqual([undefined, undefined]);
});

test("the fence comes first, then rows in the order of tables, then segments, behind which nothing may be sent", async () => {
  const rows = {
    targets: [{ label: "//a" }],
    testResults: [{ label: "//a" }],
    testSummaries: [{ label: "//a" }],
    invocation: { command: "build" },
  };
  const log = { firstByte: 0, byteCount: 3 };
  const { store, calls } = storeWith(() => {});
  const reached: string[] = [];
  await commitGroup(
    [taskOf(batchWork({ attemptId: 1, first: 11, last: 12, rows, log }))],
    contextOf(store, reached),
  );
  expect(calls).toEqual([
    "lockPositions",
    "advanceFence",
    "upsertTargets",
    "upsertTestResults",
    "upsertTestSummaries",
    "patchInvocations",
    "writeEventSegments",
    "writeLogSegments",
    "commit",
  ]);
  expect(reached).toEqual(["after-fence", "after-copy", "reply-sent"]);
});

test("nothing is written for what does not pass", async () => {
  const { store, calls } = storeWith(() => {});
  await commitGroup(
    [taskOf(batchWork({ attemptId: 1, owner: "zombie", first: 1, last: 10 }))],
    contextOf(store),
  );
  expect(calls).toEqual(["lockPositions", "commit"]);
});
