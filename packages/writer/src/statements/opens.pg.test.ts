import { RefusalReason } from "@millrace/proto/pipeline";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type WriterBench, writerBench } from "../database.fixture.ts";
import { batchWork, hexOfText, openWork, releaseWork } from "../works.fixture.ts";

let bench: WriterBench;
let invocation = "";
let tests = 0;

beforeAll(async () => {
  bench = await writerBench();
  await bench.one("insert into nodes (id, lease_until) values ('node', now() + interval '1 hour')");
});
afterAll(() => bench[Symbol.asyncDispose]());

/** Each test has an invocation of its own; this opens an attempt of it and commits events 1 to `last`. */
async function attemptOf(of: {
  owner: string;
  hmac?: string;
  last?: number;
  ends?: boolean;
}): Promise<number> {
  const { last = 10, ends = false, owner, hmac = owner } = of;
  const [reply] = await bench.commit(batchWork({ invocation, owner, hmac, first: 1, last, ends }));
  expect(reply).toMatchObject({ committed: { lastSequence: last } });
  return (reply as { committed: { opened: { attemptId: number } } }).committed.opened.attemptId;
}

async function ownerOf(attemptId: number): Promise<unknown> {
  const row = await bench.one(
    "select encode(owner, 'hex') as owner from stream_positions where attempt_id = $1",
    [attemptId],
  );
  return row?.owner;
}

async function open(of: { owner: string; first: number; hmac?: string; buildId?: string }): Promise<unknown> {
  const [reply] = await bench.commit(openWork({ invocation, ...of }));
  return reply;
}

beforeEach(() => {
  tests += 1;
  invocation = `invocation ${tests}`;
});

test("1 and no attempt: attempt 1 is inserted, with its row for people and the fact that it started", async () => {
  const attemptId = await attemptOf({ owner: "a" });
  expect(
    await bench.one("select project_id, attempt, build_id, status from invocations where attempt_id = $1", [
      attemptId,
    ]),
  ).toEqual({ project_id: "default", attempt: 1, build_id: "build", status: "running" });
  const fact = await bench.one("select subject, event from outbox where event ->> 'subject' = $1", [
    invocation,
  ]);
  expect(fact).toMatchObject({
    subject: "events.default.invocation.started",
    event: { type: "millrace.invocation.started", data: { attempt: 1, lastEventSeq: 10, status: "running" } },
  });
});

test("1 and the same HMAC, finished: told so, and the owner stays", async () => {
  const attemptId = await attemptOf({ owner: "a", ends: true });
  const expected = { attemptId, attempt: 1, committed: 10, finished: true };
  expect(await open({ owner: "b", first: 1, hmac: "a" })).toMatchObject({ opened: expected });
  const [resent] = await bench.commit(batchWork({ invocation, owner: "b", hmac: "a", first: 1, last: 4 }));
  expect(resent).toMatchObject({ committed: { lastSequence: 10, opened: expected } });
  expect(await ownerOf(attemptId)).toBe(hexOfText("a"));
});

test("1 and the same HMAC, unfinished: a new owner, who gets position and carry", async () => {
  const attemptId = await attemptOf({ owner: "a" });
  expect(await open({ owner: "b", first: 1, hmac: "a" })).toMatchObject({
    opened: { attemptId, committed: 10, finished: false, carry: { scrub: Buffer.from("after 10") } },
  });
  expect(await ownerOf(attemptId)).toBe(hexOfText("b"));
  const old = batchWork({ invocation, owner: "a", attemptId, first: 11, last: 12 });
  expect(await bench.commit(old)).toEqual([{ fenced: {} }]);
});

test("1 and only other HMACs: the next attempt", async () => {
  const first = await attemptOf({ owner: "a" });
  const second = await attemptOf({ owner: "b" });
  expect(second).not.toBe(first);
  const rows = await bench.all(
    "select attempt, last_event_seq from stream_positions where invocation_id = $1 order by attempt",
    [invocation],
  );
  expect(rows).toEqual([
    { attempt: 1, last_event_seq: 10 },
    { attempt: 2, last_event_seq: 10 },
  ]);
});

test("k > 1 and one that fits: a new owner", async () => {
  const attemptId = await attemptOf({ owner: "a" });
  expect(await open({ owner: "b", first: 8 })).toMatchObject({ opened: { attemptId, committed: 10 } });
  expect(await ownerOf(attemptId)).toBe(hexOfText("b"));
});

test("k > 1 and two with a live connection: ambiguous, until one of them is closed", async () => {
  const one = await attemptOf({ owner: "a" });
  const two = await attemptOf({ owner: "b" });
  expect(await open({ owner: "c", first: 11 })).toMatchObject({
    refused: { reason: RefusalReason.AMBIGUOUS },
  });
  await bench.commit(releaseWork(one, "a"));
  expect(await open({ owner: "c", first: 11 })).toMatchObject({ opened: { attemptId: one } });
  expect(await ownerOf(two)).toBe(hexOfText("b"));
});

test("k > 1 and an attempt of a node whose lease is over: it is not live", async () => {
  const dead = batchWork({
    invocation,
    owner: "a",
    hmac: "a",
    node: "a node of yesterday",
    first: 1,
    last: 10,
  });
  await bench.commit(dead);
  await attemptOf({ owner: "b" });
  expect(await open({ owner: "c", first: 11 })).toMatchObject({ opened: { attempt: 1 } });
});

test("k > 1 and none: a hole, which is refused unless it is allowed", async () => {
  const attemptId = await attemptOf({ owner: "a" });
  expect(await open({ owner: "b", first: 20 })).toMatchObject({ refused: { reason: RefusalReason.HOLE } });
  expect(await ownerOf(attemptId)).toBe(hexOfText("a"));
  const lenient = bench.newContext({ resumeWithHole: true });
  expect(await bench.commitWith(lenient, openWork({ invocation, owner: "b", first: 20 }))).toMatchObject([
    { opened: { attemptId, committed: 19 } },
  ]);
  expect(
    await bench.all("select first_seq, last_seq from stream_holes where attempt_id = $1", [attemptId]),
  ).toEqual([{ first_seq: 11, last_seq: 19 }]);
  const next = batchWork({ invocation, owner: "b", attemptId, first: 20, last: 21 });
  expect(await bench.commit(next)).toMatchObject([{ committed: { lastSequence: 21 } }]);
});

test("k > 1 and nothing at all, with holes allowed: an attempt that begins behind its hole", async () => {
  const lenient = bench.newContext({ resumeWithHole: true });
  const [reply] = await bench.commitWith(lenient, openWork({ invocation, owner: "b", first: 6 }));
  expect(reply).toMatchObject({ opened: { attempt: 1, committed: 5 } });
  expect(await open({ owner: "c", first: 6 })).toMatchObject({ opened: { attempt: 1, committed: 5 } });
});

test("the same open again gives the same answer, alone and on a batch", async () => {
  const attemptId = await attemptOf({ owner: "a" });
  await attemptOf({ owner: "b" });
  const again = batchWork({ invocation, owner: "a", hmac: "a", first: 1, last: 10 });
  expect(await bench.commit(again)).toMatchObject([
    { committed: { lastSequence: 10, opened: { attemptId } } },
  ]);
  expect(await open({ owner: "a", first: 1, hmac: "a" })).toMatchObject({
    opened: { attemptId, committed: 10 },
  });
});

test("a batch that opens a stream which is further on writes nothing and learns where it stands", async () => {
  const attemptId = await attemptOf({ owner: "a" });
  const resent = batchWork({ invocation, owner: "b", hmac: "a", first: 1, last: 14 });
  expect(await bench.commit(resent)).toMatchObject([{ opened: { attemptId, committed: 10 } }]);
  expect(await ownerOf(attemptId)).toBe(hexOfText("b"));
  expect(await bench.all("select last_seq from event_segments where attempt_id = $1", [attemptId])).toEqual([
    { last_seq: 10 },
  ]);
});

test("two first batches of one invocation in a group: the second waits its turn and is another attempt", async () => {
  const works = ["a", "b"].map((owner) => batchWork({ invocation, owner, hmac: owner, first: 1, last: 2 }));
  const replies = await bench.commit(...works);
  expect(replies).toMatchObject([{ committed: { opened: { attempt: 1 } } }, "next"]);
});

test("two writers open one invocation at once: two attempts, or one and then its take-over", async () => {
  const contexts = [bench.newContext(), bench.newContext()];
  for (let round = 0; round < 10; round += 1) {
    const of = `${invocation} ${round}`;
    const replies = await Promise.all(
      contexts.map(async (context, index) => {
        const owner = `${index}`;
        const work = batchWork({ invocation: of, owner, hmac: owner, first: 1, last: 3 });
        let [reply] = await bench.commitWith(context, work);
        while (typeof reply === "string") [reply] = await bench.commitWith(context, work);
        return reply;
      }),
    );
    const attempts = replies.map((reply) =>
      reply && typeof reply === "object" && "committed" in reply
        ? reply.committed?.opened?.attempt
        : undefined,
    );
    expect(attempts.sort()).toEqual([1, 2]);
  }
});

test("a key that another transaction is inserting is waited for and then found", async () => {
  const other = bench.newContext().lane;
  let mine: Promise<unknown[]> | undefined;
  await other.transact(async (tx) => {
    await tx.unsafe(
      `insert into stream_positions (project_id, invocation_id, attempt, owner, node_id, first_event_hmac)
       values ('default', $1, 1, 'x', 'node', decode($2, 'hex'))`,
      [invocation, hexOfText("h")],
    );
    mine = bench.commit(batchWork({ invocation, owner: "b", hmac: "h", first: 1, last: 3 }));
    await expect
      .poll(() => bench.one("select count(*) as waiting from pg_locks where not granted"), {
        timeout: 20_000,
      })
      .toEqual({ waiting: 1 });
  });
  expect(await mine).toEqual(["next"]);
  const again = batchWork({ invocation, owner: "b", hmac: "h", first: 1, last: 3 });
  expect(await bench.commit(again)).toMatchObject([{ committed: { opened: { attempt: 1, committed: 0 } } }]);
});

test("one id in two projects is two invocations", async () => {
  const works = ["default", "team"].map((project) =>
    batchWork({ project, invocation, owner: project, first: 1, last: 2 }),
  );
  const replies = await bench.commit(...works);
  expect(replies).toMatchObject([
    { committed: { opened: { attempt: 1 } } },
    { committed: { opened: { attempt: 1 } } },
  ]);
});
