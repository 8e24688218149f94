import { expect, test } from "vitest";
import { type WriterBench, writerBench } from "../database.fixture.ts";
import { batchWork, hexOfText, openWork, releaseWork } from "../works.fixture.ts";

async function positionOf(bench: WriterBench, attemptId: number): Promise<unknown> {
  return bench.one(
    "select encode(owner, 'hex') as owner, last_event_seq from stream_positions where attempt_id = $1",
    [attemptId],
  );
}

async function segmentsOf(bench: WriterBench, attemptId: number): Promise<string[]> {
  const rows = await bench.all(
    "select first_seq, last_seq from event_segments where attempt_id = $1 order by first_seq",
    [attemptId],
  );
  return rows.map((row) => `${row.first_seq}-${row.last_seq}`);
}

/** A bench with attempt 1 open, owned by "owner", events 1 to 10 committed. */
async function startedBench(): Promise<WriterBench> {
  const bench = await writerBench();
  expect(await bench.commit(batchWork({ first: 1, last: 10 }))).toMatchObject([
    { committed: { lastSequence: 10, opened: { attemptId: 1, attempt: 1, committed: 0 } } },
  ]);
  return bench;
}

test("the next batch of the owner is committed, with its segment and its carry", async () => {
  await using bench = await startedBench();
  const log = { firstByte: 0, byteCount: 7, lines: 2 };
  expect(await bench.commit(batchWork({ attemptId: 1, first: 11, last: 20, log }))).toEqual([
    { committed: { lastSequence: 20, partial: false } },
  ]);
  expect(await segmentsOf(bench, 1)).toEqual(["1-10", "11-20"]);
  expect(await bench.one("select first_byte, byte_count, line_count from log_segments")).toEqual({
    first_byte: 0,
    byte_count: 7,
    line_count: 2,
  });
  const [opened] = await bench.commit(openWork({ first: 21, owner: "next" }));
  expect(opened).toMatchObject({
    opened: { attemptId: 1, committed: 20, carry: { logBytes: 7, logLines: 2 } },
  });
});

test("a batch of another owner is fenced and changes nothing", async () => {
  await using bench = await startedBench();
  const before = await positionOf(bench, 1);
  expect(await bench.commit(batchWork({ attemptId: 1, owner: "zombie", first: 11, last: 12 }))).toEqual([
    { fenced: {} },
  ]);
  expect(await positionOf(bench, 1)).toEqual(before);
  expect(await segmentsOf(bench, 1)).toEqual(["1-10"]);
});

test("the fence's statement decides by itself: by owner and by number", async () => {
  await using bench = await startedBench();
  const row = { attemptId: 1, first: 11, last: 12, carry: new Uint8Array(0), ends: false };
  const advance = (change: { owner: string; first?: number }) =>
    bench.newContext().store.transact((tx) => tx.advanceFence([{ ...row, ...change }]));
  expect(await advance({ owner: hexOfText("zombie") })).toEqual([]);
  expect(await advance({ owner: hexOfText("owner"), first: 12 })).toEqual([]);
  const owner = hexOfText("owner");
  expect(await advance({ owner })).toEqual([{ attemptId: 1, owner }]);
});

test("of two owners with the same next events only the present one passes", async () => {
  await using bench = await startedBench();
  const replies = await bench.commit(
    batchWork({ attemptId: 1, owner: "zombie", first: 11, last: 12 }),
    batchWork({ attemptId: 1, first: 11, last: 12 }),
  );
  expect(replies).toEqual([{ fenced: {} }, { committed: { lastSequence: 12, partial: false } }]);
  expect(await segmentsOf(bench, 1)).toEqual(["1-10", "11-12"]);
});

test("a repeat is committed already for the owner, fenced for another, stored for neither", async () => {
  await using bench = await startedBench();
  expect(await bench.commit(batchWork({ attemptId: 1, first: 1, last: 10 }))).toEqual([
    { committed: { lastSequence: 10, partial: false } },
  ]);
  expect(await bench.commit(batchWork({ attemptId: 1, owner: "zombie", first: 1, last: 10 }))).toEqual([
    { fenced: {} },
  ]);
  expect(await segmentsOf(bench, 1)).toEqual(["1-10"]);
});

test("a batch ahead of the position waits; with its predecessor both are committed as one run", async () => {
  await using bench = await startedBench();
  const ahead = batchWork({ attemptId: 1, first: 21, last: 30 });
  expect(await bench.commit(ahead)).toEqual(["ahead"]);
  expect(await bench.commit(ahead, batchWork({ attemptId: 1, first: 11, last: 20 }))).toEqual([
    { committed: { lastSequence: 30, partial: false } },
    { committed: { lastSequence: 30, partial: false } },
  ]);
  expect(await segmentsOf(bench, 1)).toEqual(["1-10", "11-20", "21-30"]);
});

test("an attempt that is not there is fenced", async () => {
  await using bench = await writerBench();
  expect(await bench.commit(batchWork({ attemptId: 77, first: 5, last: 6 }), releaseWork(77))).toEqual([
    { fenced: {} },
    { released: {} },
  ]);
});

test("rows that another transaction holds make their batches wait, and nobody else's", async () => {
  await using bench = await startedBench();
  await bench.commit(batchWork({ invocation: "other", first: 1, last: 5 }));
  const holder = bench.newContext().lane;
  await holder.transact(async (tx) => {
    await tx.unsafe("select 1 from stream_positions where attempt_id = 1 for update");
    const replies = await bench.commit(
      batchWork({ attemptId: 1, first: 11, last: 12 }),
      batchWork({ invocation: "other", attemptId: 2, first: 6, last: 7 }),
      openWork({ first: 11, owner: "next" }),
      releaseWork(1),
    );
    expect(replies).toEqual(["busy", { committed: { lastSequence: 7, partial: false } }, "busy", "busy"]);
  });
  expect(await bench.commit(batchWork({ attemptId: 1, first: 11, last: 12 }))).toMatchObject([
    { committed: { lastSequence: 12 } },
  ]);
});

test("writers at once on one stream store each event once", async () => {
  await using bench = await startedBench();
  const contexts = [bench.newContext(), bench.newContext(), bench.newContext()];
  const batches = Array.from({ length: 20 }, (_, index) =>
    batchWork({ attemptId: 1, first: 11 + 5 * index, last: 15 + 5 * index }),
  );
  // Each sends everything until all of it is committed, as actors behind three confused writers would.
  await Promise.all(
    contexts.map(async (context) => {
      for (const batch of batches) {
        let [reply] = await bench.commitWith(context, batch);
        while (typeof reply === "string") [reply] = await bench.commitWith(context, batch);
        expect(reply).toMatchObject({ committed: {} });
      }
    }),
  );
  const expected = [
    "1-10",
    ...batches.map((batch) => ("first" in batch ? `${batch.first}-${batch.last}` : "")),
  ];
  expect(await segmentsOf(bench, 1)).toEqual(expected);
});

test("a release marks the owner's connection closed, not another's, and a new owner clears it", async () => {
  await using bench = await startedBench();
  const isReleased = async (): Promise<unknown> =>
    (await bench.one("select disconnected_at is not null as closed from stream_positions"))?.closed;
  await bench.commit(releaseWork(1, "zombie"));
  expect(await isReleased()).toBe(false);
  await bench.commit(releaseWork(1));
  expect(await isReleased()).toBe(true);
  await bench.commit(openWork({ first: 11, owner: "next" }));
  expect(await isReleased()).toBe(false);
  expect(await positionOf(bench, 1)).toEqual({ owner: hexOfText("next"), last_event_seq: 10 });
});

test("nothing follows the end of a stream", async () => {
  await using bench = await startedBench();
  await bench.commit(batchWork({ attemptId: 1, first: 11, last: 12, ends: true }));
  expect(await bench.commit(batchWork({ attemptId: 1, first: 13, last: 14 }))).toMatchObject([
    { rejected: { message: expect.stringContaining("ended") } },
  ]);
});

test("without named statements, as behind a transaction-mode pooler, it is the same", async () => {
  await using bench = await startedBench();
  const context = bench.newContext({ prepare: false });
  const rows = { targets: [{ label: "//a" }], invocation: { command: "build" } };
  const works = [
    batchWork({ attemptId: 1, first: 11, last: 20, rows }),
    batchWork({ attemptId: 1, first: 21, last: 30, ends: true }),
    batchWork({ invocation: "other", first: 1, last: 2, rows }),
  ];
  for (const reply of await bench.commitWith(context, ...works)) {
    expect(reply).toMatchObject({ committed: { partial: false } });
  }
  expect(await segmentsOf(bench, 1)).toEqual(["1-10", "11-20", "21-30"]);
});

test("positions are updated heap-only", async () => {
  await using bench = await startedBench();
  const context = bench.newContext();
  for (let first = 11; first < 200; first += 10) {
    await bench.commitWith(context, batchWork({ attemptId: 1, first, last: first + 9 }));
  }
  // A backend tells its statistics at the latest when it ends.
  await context.lane.close();
  const statistics = `select n_tup_upd >= 19 as many, n_tup_upd - n_tup_hot_upd as not_hot
    from pg_stat_user_tables where relname = 'stream_positions'`;
  await expect.poll(() => bench.one(statistics), { timeout: 20_000 }).toEqual({ many: true, not_hot: 0 });
});
