import { createHash } from "node:crypto";
import { silentLog } from "@millrace/base/log";
import { partitionDaysAhead } from "@millrace/db/partitions";
import { LifecycleKind } from "@millrace/proto/pipeline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type WriterBench, writerBench } from "../database.fixture.ts";
import type { JobLeases } from "../jobs.ts";
import { renewLease } from "../leases.ts";
import { type LifecycleState, mergeLifecycle, readLifecycle } from "../lifecycle.ts";
import type { UnpublishedFact } from "../outbox-relay.ts";
import { partitionJob } from "../partitions.ts";
import { batchWork } from "../works.fixture.ts";
import { pgJobLeases } from "./job-leases.ts";
import { pgLifecycleStore } from "./lifecycle-rows.ts";
import { pgKeyStore, pgNodeStore } from "./lookups.ts";
import { pgOutboxStore } from "./outbox.ts";
import { pgPartitionStore } from "./partitions.ts";

let bench: WriterBench;
let leases: JobLeases;

beforeAll(async () => {
  bench = await writerBench();
  leases = pgJobLeases(bench.newContext().lane);
});
afterAll(() => bench[Symbol.asyncDispose]());

test("a lease has one holder, who renews it; the next holder has a new epoch", async () => {
  const ask = (holder: string) => leases.acquire({ name: "one", holder, forMs: 60_000 });
  const first = await ask("a");
  expect(first).toEqual({ name: "one", holder: "a", epoch: 1 });
  expect(await ask("b")).toBeUndefined();
  expect(await ask("a")).toEqual(first);
  if (first !== undefined) await leases.giveUp(first);
  expect(await ask("b")).toMatchObject({ holder: "b", epoch: 2 });
});

test("a lease that ran out goes to whoever asks first, and only to one of them", async () => {
  await leases.acquire({ name: "race", holder: "a", forMs: 0 });
  const others = ["b", "c", "d"].map((holder) =>
    pgJobLeases(bench.newContext().lane).acquire({ name: "race", holder, forMs: 60_000 }),
  );
  const taken = (await Promise.all(others)).filter((lease) => lease !== undefined);
  expect(taken).toMatchObject([{ epoch: 2 }]);
});

test("a fact is in one relay's hands, published, published again for another stream, and pruned", async () => {
  await bench.one("delete from outbox");
  await bench.commit(
    batchWork({ invocation: "facts", first: 1, last: 1 }),
    batchWork({ invocation: "more", first: 1, last: 1 }),
  );
  const [one, two] = [pgOutboxStore(bench.newContext().lane), pgOutboxStore(bench.newContext().lane)];
  const seen: UnpublishedFact[] = [];
  const takeAll = (stream: string) => async (facts: readonly UnpublishedFact[]) => {
    seen.push(...facts);
    return { ids: facts.map((fact) => fact.id), stream };
  };
  // The second one looks while the first has the older fact in hand.
  await one.relay(1, async (facts) => {
    expect(await two.relay(10, takeAll("made at noon"))).toBe(1);
    return takeAll("made at noon")(facts);
  });
  expect(seen.map((fact) => fact.subject)).toEqual(Array(2).fill("events.default.invocation.started"));
  expect(new Set(seen.map((fact) => fact.messageId)).size).toBe(2);
  expect(JSON.parse(seen[0]?.json ?? "")).toMatchObject({ id: seen[0]?.messageId });
  expect(await one.relay(10, takeAll("made at noon"))).toBe(0);

  const lease = await leases.acquire({ name: "outbox", holder: "me", forMs: 60_000 });
  if (lease === undefined) throw new Error("nobody else has it");
  expect(await one.requeueOthers("made at noon", lease)).toBe(0);
  expect(await one.requeueOthers("made at one", lease)).toBe(2);
  expect(await one.relay(10, takeAll("made at one"))).toBe(2);
  await one.prune(lease);
  const ids = (await bench.all("select id from outbox order by id")).map((row) => row.id);
  expect(ids).toHaveLength(2);
  await bench.one("update outbox set published_at = now() - interval '11 minutes' where id = $1", [
    Number(ids[0]),
  ]);
  await one.prune(lease);
  expect(await bench.all("select id from outbox")).toEqual([{ id: ids[1] }]);
});

test("facts that a relay fails to publish, or does not get taken, are there for the next one", async () => {
  await bench.one("delete from outbox");
  await bench.commit(batchWork({ invocation: "again", first: 1, last: 1 }));
  const store = pgOutboxStore(bench.newContext().lane);
  await expect(store.relay(1, () => Promise.reject(new Error("away")))).rejects.toThrow("away");
  expect(await store.relay(1, async () => ({ ids: [], stream: "made at noon" }))).toBe(1);
  expect(
    await store.relay(1, async (facts) => ({ ids: facts.map(({ id }) => id), stream: "made at noon" })),
  ).toBe(1);
  expect(await store.relay(1, () => Promise.reject(new Error("there is none")))).toBe(0);
});

test("partitions are made by the holder of the lease, and it is told how far they reach", async () => {
  await bench
    .one("select to_char((now() at time zone 'utc')::date + 5, 'YYYYMMDD') as day")
    .then((row) => bench.one(`drop table event_segments_${row?.day}`));
  const days: number[] = [];
  const store = pgPartitionStore(bench.newContext().lane);
  expect(await store.countDaysAhead()).toBe(5);
  const job = partitionJob(store, { log: silentLog, daysAhead: (count) => days.push(count) });
  const lease = await leases.acquire({ name: job.name, holder: "me", forMs: 60_000 });
  if (lease === undefined) throw new Error("nobody else has it");
  await expect(job.run({ ...lease, epoch: 99 })).rejects.toMatchObject({ code: "lease-lost" });
  await job.run(lease);
  expect(days).toEqual([5, partitionDaysAhead + 1]);
});

test("lifecycle calls are merged by PostgreSQL as mergeLifecycle merges them", async () => {
  const store = pgLifecycleStore(bench.newContext().lane);
  const call = { project: "default", buildId: "b", invocationId: "i", component: 3 };
  const states: LifecycleState[] = [
    { ...call, sequence: 2, kind: LifecycleKind.INVOCATION_ATTEMPT_FINISHED, eventTimeMs: 900, result: 1 },
    {
      ...call,
      sequence: 1,
      kind: LifecycleKind.INVOCATION_ATTEMPT_STARTED,
      eventTimeMs: 500,
      attemptNumber: 1,
    },
    { ...call, sequence: 1, kind: LifecycleKind.INVOCATION_ATTEMPT_STARTED, eventTimeMs: 600 },
    { ...call, sequence: 3, kind: LifecycleKind.INVOCATION_ATTEMPT_FINISHED, eventTimeMs: 950, result: 2 },
    { ...call, sequence: 2, kind: LifecycleKind.INVOCATION_ATTEMPT_FINISHED, eventTimeMs: 900, result: 1 },
  ].map(readLifecycle);
  for (const state of states) await store.merge([state]);
  const merged = states.reduce(mergeLifecycle);
  const stored = await bench.one(
    `select last_sequence as "lastSequence", attempt_number as "attemptNumber", result,
       (extract(epoch from started_at) * 1000)::bigint as "startedAtMs",
       (extract(epoch from finished_at) * 1000)::bigint as "finishedAtMs" from lifecycle_events`,
  );
  expect(stored).toEqual({
    lastSequence: 3,
    attemptNumber: 1,
    result: 2,
    startedAtMs: 500,
    finishedAtMs: 950,
  });
  expect(merged).toMatchObject(stored ?? {});
  expect(await bench.all("select 1 from stream_positions where invocation_id = 'i'")).toEqual([]);
});

test("a key is found by its hash while it is neither expired nor revoked", async () => {
  const keys = pgKeyStore(bench.database);
  const sha256 = (key: string) => createHash("sha256").update(key).digest();
  const insert = `insert into api_keys (id, project_id, key_sha256, scopes, expires_at, revoked_at, open_streams_max)
    values ($1, 'default', $2, '{ingest,read}', now() + make_interval(hours => $3), $4, 7)`;
  await bench.one(insert, ["good", sha256("good"), 1, null]);
  await bench.one(insert, ["expired", sha256("expired"), -1, null]);
  await bench.one(insert, ["revoked", sha256("revoked"), 1, "2020-01-01"]);
  expect(await keys.find(sha256("good"))).toMatchObject({
    project: "default",
    scopes: ["ingest", "read"],
    openStreamsMax: 7,
  });
  for (const key of ["expired", "revoked", "never made"])
    expect(await keys.find(sha256(key))).toBeUndefined();
  expect(await keys.serverSecret()).toHaveLength(32);
});

test("a front door's lease lasts half a minute and ends when it leaves", async () => {
  const nodes = pgNodeStore(bench.database);
  const lasting =
    "select lease_until > now() + interval '25 seconds' as lasts, lease_until > now() as valid from nodes";
  await renewLease({ node: "n" }, nodes);
  expect(await bench.one(lasting)).toEqual({ lasts: true, valid: true });
  await renewLease({ node: "n", leaving: true }, nodes);
  expect(await bench.one(lasting)).toEqual({ lasts: false, valid: false });
  await expect(renewLease({}, nodes)).rejects.toMatchObject({ code: "malformed-request" });
});
