import { systemClock } from "@millrace/base/clock";
import { noFailPoints } from "@millrace/base/fail-points";
import { silentLog } from "@millrace/base/log";
import { systemRandom } from "@millrace/base/random";
import { openLane } from "@millrace/db/lane";
import { expect, test } from "vitest";
import { type BreakingProxy, breakingProxy } from "../../../../db/src/breaking-proxy.fixture.ts";
import { type WriterBench, writerBench } from "../database.fixture.ts";
import { runGroupCommit } from "../group-commit.ts";
import { Inbox } from "../inbox.ts";
import { noMetrics } from "../metrics.ts";
import type { Reply, Work } from "../work.ts";
import { batchWork } from "../works.fixture.ts";
import { pgCommitStore } from "./pg-commit-store.ts";

/** The real loop on a connection that can lose answers. */
interface RunningWriter extends AsyncDisposable {
  readonly bench: WriterBench;
  readonly proxy: BreakingProxy;
  ask(work: Work): Promise<Reply>;
}

async function runningWriter(): Promise<RunningWriter> {
  const bench = await writerBench();
  const proxy = await breakingProxy(bench.url);
  const lane = openLane({ url: proxy.url, name: "in doubt" });
  const inbox = new Inbox({ inboxBytesMax: 1e9, groupBytesMax: 1e9, groupBatchesMax: 100 }, systemClock);
  const ended = runGroupCommit(inbox, {
    store: pgCommitStore(lane, noFailPoints),
    clock: systemClock,
    random: systemRandom,
    resumeWithHole: false,
    points: noFailPoints,
    metrics: noMetrics,
    log: silentLog,
  });
  return {
    bench,
    proxy,
    ask: (work) => new Promise((resolve) => void inbox.offer(work, resolve)),
    [Symbol.asyncDispose]: async () => {
      inbox.drain();
      await ended;
      await lane.close();
      await proxy[Symbol.asyncDispose]();
      await bench[Symbol.asyncDispose]();
    },
  };
}

async function segmentsOf(bench: WriterBench): Promise<unknown[]> {
  return bench.all("select first_seq, last_seq from event_segments order by attempt_id, first_seq");
}

test("a first batch whose COMMIT is in doubt is committed once, and told so", async () => {
  await using writer = await runningWriter();
  writer.proxy.loseNextCommitAnswer();
  expect(await writer.ask(batchWork({ first: 1, last: 5 }))).toMatchObject({
    committed: { lastSequence: 5, opened: { attempt: 1, committed: 5 }, partial: false },
  });
  expect(await segmentsOf(writer.bench)).toEqual([{ first_seq: 1, last_seq: 5 }]);
});

test("a later batch whose COMMIT is in doubt is committed once, and its stream goes on", async () => {
  await using writer = await runningWriter();
  await writer.ask(batchWork({ first: 1, last: 5 }));
  writer.proxy.loseNextCommitAnswer();
  const both = [
    writer.ask(batchWork({ attemptId: 1, first: 6, last: 8 })),
    writer.ask(batchWork({ attemptId: 1, first: 9, last: 9, ends: true })),
  ];
  for (const reply of await Promise.all(both)) {
    expect(reply).toMatchObject({ committed: { lastSequence: 9, partial: false } });
  }
  expect(await segmentsOf(writer.bench)).toHaveLength(3);
  expect(await writer.bench.all("select event ->> 'type' as type from outbox order by id")).toEqual([
    { type: "millrace.invocation.started" },
    { type: "millrace.invocation.finished" },
  ]);
  expect(await writer.bench.all("select 1 from dead_letters")).toEqual([]);
});

test("while the database is away works wait; when it is back each is stored once", async () => {
  await using writer = await runningWriter();
  await writer.ask(batchWork({ first: 1, last: 5 }));
  writer.proxy.refuse();
  const replies = [6, 7, 8].map((first) => writer.ask(batchWork({ attemptId: 1, first, last: first })));
  const isAnswered = await Promise.race([
    Promise.all(replies).then(() => true),
    writer.bench.one("select pg_sleep(0.3)").then(() => false),
  ]);
  expect(isAnswered).toBe(false);
  writer.proxy.allow();
  for (const reply of await Promise.all(replies))
    expect(reply).toMatchObject({ committed: { partial: false } });
  expect(await segmentsOf(writer.bench)).toHaveLength(4);
});
