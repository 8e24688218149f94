import { systemClock } from "@millrace/base/clock";
import { silentLog } from "@millrace/base/log";
import { systemRandom } from "@millrace/base/random";
import type { Lane } from "@millrace/db/lane";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type WriterBench, writerBench } from "../database.fixture.ts";
import { invocationFact } from "../facts.ts";
import type { JobLease } from "../jobs.ts";
import type { SilentAttempt, SweepStore } from "../sweep.ts";
import { sweepJob } from "../sweep.ts";
import { batchWork, openWork, releaseWork } from "../works.fixture.ts";
import { pgJobLeases } from "./job-leases.ts";
import { pgSweepStore } from "./sweep.ts";

const world = { clock: systemClock, random: systemRandom, log: silentLog };
let bench: WriterBench;
let lane: Lane;
let store: SweepStore;
let lease: JobLease;
let tests = 0;
let stream = { invocation: "", owner: "a", hmac: "h", node: "alive" };

beforeAll(async () => {
  bench = await writerBench();
  lane = bench.newContext().lane;
  store = pgSweepStore(lane);
  await bench.one("insert into nodes (id, lease_until) values ('alive', now() + interval '1 hour')");
  const taken = await pgJobLeases(lane).acquire({ name: "sweep", holder: "me", forMs: 3_600_000 });
  if (taken === undefined) throw new Error("nobody else can have the lease");
  lease = taken;
});
afterAll(() => bench[Symbol.asyncDispose]());
beforeEach(() => {
  tests += 1;
  stream = { invocation: `stream ${tests}`, owner: "a", hmac: "h", node: "alive" };
});

/** Opens this test's stream with events 1 to 3 and lets it look as if `longAgo` had happened a while ago. */
async function start(options: { node?: string; rows?: object } = {}): Promise<number> {
  const [reply] = await bench.commit(batchWork({ ...stream, ...options, first: 1, last: 3 }));
  const { attemptId } = (reply as { committed: { opened: { attemptId: number } } }).committed.opened;
  return attemptId;
}

async function age(attemptId: number): Promise<void> {
  await bench.one(
    `update stream_positions set opened_at = opened_at - interval '1 hour',
       disconnected_at = disconnected_at - interval '1 hour' where attempt_id = $1`,
    [attemptId],
  );
}

async function find(): Promise<SilentAttempt[]> {
  return store.findSilent({ closedForSeconds: 300, limit: 100 });
}

function close(silent: readonly SilentAttempt[]) {
  return store.closeSilent(silent, {
    lease,
    fact: (about) => invocationFact("disconnected", about, world),
  });
}

async function statusOf(attemptId: number): Promise<unknown> {
  return (await bench.one("select status from invocations where attempt_id = $1", [attemptId]))?.status;
}

async function factsOf(): Promise<unknown[]> {
  const rows = await bench.all(
    "select event ->> 'type' as type from outbox where event ->> 'subject' = $1 order by id",
    [stream.invocation],
  );
  return rows.map((row) => String(row.type).replace("millrace.invocation.", ""));
}

test("silence on a live connection is never a reason", async () => {
  const attemptId = await start();
  await age(attemptId);
  expect(await find()).toEqual([]);
});

test("a connection that was closed a moment ago is waited for; after 5 minutes the attempt is closed", async () => {
  const attemptId = await start();
  await bench.commit(releaseWork(attemptId, "a"));
  expect(await find()).toEqual([]);
  await age(attemptId);
  const silent = await find();
  expect(silent).toMatchObject([{ attemptId, committed: 3 }]);
  expect(await close(silent)).toMatchObject([{ attemptId, status: "disconnected", lastEventSeq: 3 }]);
  expect(await statusOf(attemptId)).toBe("disconnected");
  expect(await factsOf()).toEqual(["started", "disconnected"]);
  expect(await find()).toEqual([]);
});

test("an attempt whose node's lease is over is closed, with the status of its stored exit code", async () => {
  const attemptId = await start({ node: "dead", rows: { invocation: { exitCode: 0 } } });
  expect(await find()).toEqual([]);
  await age(attemptId);
  expect(await close(await find())).toMatchObject([{ attemptId, status: "succeeded", exitCode: 0 }]);
});

test("one that has moved on since it was looked at is left alone", async () => {
  const attemptId = await start({ node: "dead" });
  await age(attemptId);
  const silent = await find();
  expect(silent).toHaveLength(1);
  await bench.commit(batchWork({ ...stream, attemptId, first: 4, last: 4 }));
  expect(await close(silent)).toEqual([]);
  expect(await statusOf(attemptId)).toBe("running");
  await close(await find());
});

test("one that has a new owner since it was looked at is left alone", async () => {
  const attemptId = await start({ node: "dead" });
  await age(attemptId);
  const silent = await find();
  await bench.commit(openWork({ ...stream, node: "dead", owner: "b", first: 4 }));
  await age(attemptId);
  expect(await close(silent)).toEqual([]);
  expect(await statusOf(attemptId)).toBe("running");
  await close(await find());
});

test("a later batch reopens what was swept, and its end closes it again", async () => {
  const attemptId = await start({ node: "dead" });
  await age(attemptId);
  await close(await find());
  expect(await bench.commit(batchWork({ ...stream, attemptId, first: 4, last: 5 }))).toMatchObject([
    { committed: { lastSequence: 5 } },
  ]);
  expect(
    await bench.one("select status, ended_at from invocations where attempt_id = $1", [attemptId]),
  ).toEqual({
    status: "running",
    ended_at: null,
  });
  await bench.commit(
    batchWork({ ...stream, attemptId, first: 6, last: 6, ends: true, rows: { invocation: { exitCode: 0 } } }),
  );
  expect(await statusOf(attemptId)).toBe("succeeded");
  expect(await factsOf()).toEqual(["started", "disconnected", "resumed", "finished"]);
});

test("a swept attempt that is only opened again stays as it is until a batch comes", async () => {
  const attemptId = await start({ node: "dead" });
  await age(attemptId);
  await close(await find());
  await bench.commit(openWork({ ...stream, node: "dead", owner: "b", first: 4 }));
  await age(attemptId);
  expect(await find()).toEqual([]);
  expect(await statusOf(attemptId)).toBe("disconnected");
});

test("who has lost the lease closes nothing", async () => {
  const attemptId = await start({ node: "dead" });
  await age(attemptId);
  const silent = await find();
  const late = { ...lease, epoch: lease.epoch - 1 };
  const closing = store.closeSilent(silent, {
    lease: late,
    fact: (about) => invocationFact("disconnected", about, world),
  });
  await expect(closing).rejects.toMatchObject({ code: "lease-lost" });
  expect(await statusOf(attemptId)).toBe("running");
  await sweepJob(store, world).run(lease);
  expect(await statusOf(attemptId)).toBe("disconnected");
});
