import { MillraceError } from "@millrace/base/errors";
import { noFailPoints } from "@millrace/base/fail-points";
import { silentLog } from "@millrace/base/log";
import { ScriptedClock } from "@millrace/base/scripted-clock";
import { commitInDoubt } from "@millrace/db/in-doubt";
import { expect, test } from "vitest";
import { runGroupCommit } from "./group-commit.ts";
import { forgetAfterMs, Inbox } from "./inbox.ts";
import { noMetrics } from "./metrics.ts";
import type { CommitTx } from "./store.ts";
import type { Reply } from "./work.ts";
import { releaseWork } from "./works.fixture.ts";

const steady = { bytes: () => new Uint8Array(0), uuid: () => "", fraction: () => 0.5 };

/** Every position is free and every release succeeds. */
const releasing = {
  lockPositions: async (attemptIds: readonly number[]) =>
    attemptIds.map((attemptId) => ({ attemptId, state: "unknown" as const })),
  releaseStreams: async () => {},
} satisfies Partial<CommitTx> as unknown as CommitTx;

/** A loop whose transactions fail with `failures`, one after the other, and then succeed. */
function setUp(failures: Error[]) {
  const clock = new ScriptedClock();
  const inbox = new Inbox({ inboxBytesMax: 1e6, groupBytesMax: 1e6, groupBatchesMax: 10 }, clock);
  const sizes: number[] = [];
  const ended = runGroupCommit(inbox, {
    store: {
      transact: async (work) => {
        const result = await work(releasing);
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
        sizes.push(result instanceof Map ? result.size : 0);
        return result;
      },
    },
    clock,
    random: steady,
    resumeWithHole: false,
    points: noFailPoints,
    metrics: noMetrics,
    log: silentLog,
  });
  const replies: Reply[] = [];
  const ask = (attemptId: number): void =>
    void inbox.offer(releaseWork(attemptId), (reply) => replies.push(reply));
  return { clock, inbox, ended, replies, ask, sizes };
}

const away = new MillraceError({ remedy: "retry", code: "57P01", message: "shutting down" });

test("a group that is not committed is tried again with pauses that double, whoever is to blame", async () => {
  const { clock, replies, ask } = setUp([away, commitInDoubt(), away]);
  ask(1);
  await clock.advance(0);
  await clock.advance(20);
  await clock.advance(40);
  expect(replies).toEqual([]);
  await clock.advance(79);
  expect(replies).toEqual([]);
  await clock.advance(1);
  expect(replies).toEqual([{ released: {} }]);
});

test("what arrives while a group is tried again joins the next one", async () => {
  const { clock, ask, sizes } = setUp([away]);
  ask(1);
  await clock.advance(0);
  ask(2);
  ask(3);
  await clock.advance(20);
  expect(sizes).toEqual([1, 2]);
});

test("in a long outage what nobody asks for any more is forgotten", async () => {
  const { clock, ask, inbox, replies } = setUp(Array.from({ length: 30 }, () => away));
  ask(1);
  await clock.advance(forgetAfterMs + 2_000);
  expect([inbox.count, replies]).toEqual([0, []]);
});

test("the loop ends when the inbox is drained", async () => {
  const { inbox, ended, replies, ask } = setUp([]);
  ask(1);
  inbox.drain();
  await ended;
  expect(replies).toHaveLength(1);
});
