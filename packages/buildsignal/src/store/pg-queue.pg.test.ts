import { type Lane, openLane } from "@millrace/db/lane";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { freshDatabase, type TestDatabase } from "../../../../test/services/database.ts";
import type { ClaimAsk, Delivery, Finish, NewMessage, QueueStore } from "../queue/message.ts";
import { ModelQueue } from "../queue/model-queue.fixture.ts";
import { pgQueue } from "./pg-queue.ts";
import { publishMessage } from "./publish.ts";
import { queueTexts } from "./queue-texts.ts";

/** Time as the database sees it: a row that the test moves. */
const scriptedNow = "(select at from test_now)";
const startMs = Date.UTC(2030, 0, 1);

/** A machine that is busy with other tests is no failure. */
const patienceMs = 60_000;

let fresh: TestDatabase;
let lane: Lane;
let otherLane: Lane;
let queue: ReturnType<typeof pgQueue>;
let nowMs: number;

const groups: Readonly<Record<string, readonly string[]>> = { work: ["a"], shared: ["a", "b"] };
const texts = queueTexts(scriptedNow);

beforeAll(async () => {
  fresh = await freshDatabase();
  lane = openLane({ url: fresh.url, name: "queue test", timeoutMs: patienceMs });
  otherLane = openLane({ url: fresh.url, name: "queue test 2", timeoutMs: patienceMs });
  queue = pgQueue({ claims: lane, finishes: lane }, scriptedNow);
  await lane.transact((tx) => tx.unsafe("create table test_now (at timestamptz not null)"));
});
afterAll(async () => {
  await Promise.all([lane.close(), otherLane.close()]);
  await fresh.drop();
});
beforeEach(empty);

async function empty(): Promise<void> {
  await lane.transact(async (tx) => {
    await tx.unsafe(
      "truncate signal_deliveries, signal_partitions, signal_dead_letters, test_now restart identity",
    );
    await tx.unsafe("insert into test_now values ($1)", [new Date(startMs).toISOString()]);
  });
  nowMs = 0;
}

async function pass(ms: number): Promise<void> {
  nowMs += ms;
  await lane.transact((tx) =>
    tx.unsafe("update test_now set at = $1", [new Date(startMs + nowMs).toISOString()]),
  );
}

const publish = (message: Partial<NewMessage> & { id: string }) =>
  lane.transact((tx) => {
    const whole = { topic: "work", key: "k", payload: { for: message.id }, ...message };
    return publishMessage(tx, whole, { texts, groups: groups[whole.topic] ?? [] });
  });

const ask = (change: Partial<ClaimAsk> = {}): ClaimAsk => ({
  ...{ topic: "work", group: "a", room: 10, visibilityMs: 60_000, attemptsMax: 3 },
  ...change,
});
const claim = async (...asks: Partial<ClaimAsk>[]) =>
  (await queue.claim(asks.length === 0 ? [ask()] : asks.map(ask))).deliveries;
const one = async (change: Partial<ClaimAsk> = {}): Promise<Delivery> => {
  const [delivery] = await claim(change);
  if (delivery === undefined) throw new Error("nothing was handed out");
  return delivery;
};
const finish = async (delivery: Delivery, how: Finish, by: QueueStore = queue) =>
  (await by.finish([{ delivery, finish: how }])).wereStored[0];
const ids = (deliveries: readonly Delivery[]) => deliveries.map((delivery) => delivery.messageId).sort();

const count = async (table: string) => {
  const [row] = await lane.transact((tx) => tx.unsafe(`select count(*) as n from ${table}`));
  return row?.n;
};

const done: Finish = { kind: "done" };
const hold = (delayMs: number, fresh = false): Finish => ({ kind: "hold", delayMs, fresh });
const retry = (delayMs: number, isBarrier = false): Finish => ({ kind: "retry", delayMs, isBarrier });

test("a message is swallowed while one of its id is unfinished, and not afterwards", async () => {
  expect(await publish({ id: "m" })).toBe("published");
  expect(await publish({ id: "m" })).toBe("duplicate");
  const delivery = await one();
  expect(await publish({ id: "m" })).toBe("duplicate");
  expect(await finish(delivery, done)).toBe(true);
  expect(await publish({ id: "m" })).toBe("published");
  expect(await publish({ id: "m", key: "another" })).toBe("published");
});

test("one that is to come once is swallowed by its finished self until that is pruned", async () => {
  await publish({ id: "m", once: true });
  await finish(await one(), done);
  expect(await publish({ id: "m", once: true })).toBe("duplicate");
  expect(await publish({ id: "m" })).toBe("published");
  await finish(await one(), done);
  await pass(10_000);
  await queue.pruneDone(5_000);
  expect(await publish({ id: "m", once: true })).toBe("published");
});

test("a partition is strictly serial and in order, others go on beside it", async () => {
  for (const id of ["1", "2"]) await publish({ id });
  await publish({ id: "x", key: "other" });
  const both = await claim();
  expect(ids(both)).toEqual(["1", "x"]);
  expect(await claim()).toEqual([]);
  const first = both.find((delivery) => delivery.messageId === "1");
  expect(first === undefined ? undefined : await finish(first, done)).toBe(true);
  expect(ids(await claim())).toEqual(["2"]);
});

test("a hold is a barrier, comes when it is due and never counts", async () => {
  for (const id of ["1", "2"]) await publish({ id });
  for (let round = 0; round < 5; round += 1) {
    const held = await one();
    expect(held).toMatchObject({ messageId: "1", attempt: 1, holds: round, heldForMs: round * 1_000 });
    await finish(held, hold(1_000));
    expect(await claim()).toEqual([]);
    await pass(1_000);
  }
  const held = await one();
  await finish(held, hold(0, true));
  expect(await one()).toMatchObject({ messageId: "1", holds: 1, heldForMs: 5_000 });
});

test("what is published behind a hold waits for it", async () => {
  await publish({ id: "1" });
  await finish(await one(), hold(5_000));
  await publish({ id: "2" });
  expect(await claim()).toEqual([]);
  await pass(5_000);
  expect((await one()).messageId).toBe("1");
});

test("a hold forgets the failures before it", async () => {
  await publish({ id: "m" });
  await finish(await one(), retry(0));
  const second = await one();
  expect(second.attempt).toBe(2);
  await finish(second, hold(0));
  expect((await one()).attempt).toBe(1);
});

test("one that failed steps aside, unless its topic keeps order", async () => {
  for (const id of ["1", "2"]) await publish({ id });
  await finish(await one(), retry(1_000));
  const second = await one();
  expect(second.messageId).toBe("2");
  await finish(second, retry(5_000, true));
  await publish({ id: "3" });
  expect(await claim()).toEqual([]);
  await pass(1_000);
  expect(await one()).toMatchObject({ messageId: "1", attempt: 2 });
});

test("what nobody finishes comes again as the next attempt, and dead-letters in the end", async () => {
  await publish({ id: "m" });
  for (const attempt of [1, 2, 3]) {
    expect(await one({ visibilityMs: 1_000 })).toMatchObject({ messageId: "m", attempt });
    expect(await claim()).toEqual([]);
    await pass(1_000);
  }
  const claimed = await queue.claim([ask(), ask({ topic: "work_dlq", group: "a-dlq" })]);
  expect(ids(claimed.exhausted)).toEqual(["m"]);
  expect(claimed.deliveries).toEqual([]);
  expect(await one({ topic: "work_dlq", group: "a-dlq" })).toMatchObject({
    payload: { for: "m" },
    attempt: 1,
  });
  const [letter] = await lane.transact((tx) => tx.unsafe("select * from signal_dead_letters"));
  expect(letter).toMatchObject({ state: "open", failures: 3, occurrences: 1, last_reason: /visibility/ });
});

test("a stale receipt changes nothing", async () => {
  await publish({ id: "m" });
  const slow = await one({ visibilityMs: 1_000 });
  await pass(1_000);
  const quick = await one();
  for (const how of [done, hold(1), retry(1), { kind: "dead", reason: "x" }, { kind: "return" }] as const) {
    expect(await finish(slow, how)).toBe(false);
  }
  expect(await finish(quick, done)).toBe(true);
  expect(await finish(quick, done)).toBe(false);
  expect([await count("signal_deliveries"), await count("signal_dead_letters")]).toEqual([0, 0]);
});

test("a renewed visibility lapses later, and only its holder renews it", async () => {
  await publish({ id: "m" });
  const delivery = await one({ visibilityMs: 1_000 });
  await pass(900);
  await queue.extend([delivery], 1_000);
  await queue.extend([{ ...delivery, receipt: "another" }], 100_000);
  await pass(900);
  expect(await claim()).toEqual([]);
  await pass(100);
  expect(await one()).toMatchObject({ attempt: 2 });
});

test("one that is given back is handed out again at once and uncounted", async () => {
  await publish({ id: "m" });
  await finish(await one(), { kind: "return" });
  expect(await one()).toMatchObject({ attempt: 1 });
});

test("the same id given up twice is one letter that counts; its reconciler settles it", async () => {
  for (const reason of ["first", "second"]) {
    await publish({ id: "m" });
    await finish(await one(), { kind: "dead", reason });
  }
  const letters = () =>
    lane.transact((tx) =>
      tx.unsafe("select first_reason, last_reason, occurrences, state from signal_dead_letters"),
    );
  const letter = { first_reason: "first", last_reason: "second", occurrences: 2 };
  expect(await letters()).toEqual([{ ...letter, state: "open" }]);
  const dead = await claim({ topic: "work_dlq", group: "a-dlq" });
  expect(dead).toHaveLength(1);
  for (const delivery of dead) await finish(delivery, done);
  expect(await letters()).toEqual([{ ...letter, state: "reconciled" }]);
});

test("each group gets a message and ends it by itself", async () => {
  await publish({ id: "m", topic: "shared" });
  const ofA = await one({ topic: "shared" });
  await finish(ofA, { kind: "dead", reason: "a gives up" });
  expect(await publish({ id: "m", topic: "shared" })).toBe("duplicate");
  const ofB = await one({ topic: "shared", group: "b" });
  await finish(ofB, done);
  expect(await claim({ topic: "shared_dlq", group: "b-dlq" })).toEqual([]);
  expect(await claim({ topic: "shared_dlq", group: "a-dlq" })).toHaveLength(1);
});

test("a partition without unfinished deliveries leaves nothing behind", async () => {
  await publish({ id: "m" });
  await finish(await one(), done);
  expect([await count("signal_deliveries"), await count("signal_partitions")]).toEqual([0, 0]);
});

test("a claim says when the next is due", async () => {
  await publish({ id: "m" });
  const delivery = await one();
  expect((await queue.finish([{ delivery, finish: hold(1_500) }])).nextDueInMs).toBe(1_500);
  await pass(500);
  expect(await queue.claim([ask()])).toEqual({ deliveries: [], exhausted: [], nextDueInMs: 1_000 });
  expect((await queue.claim([ask({ topic: "other" })])).nextDueInMs).toBeUndefined();
});

test("two processes that claim at once share what is due, and nothing is handed out twice", async () => {
  for (let n = 0; n < 40; n += 1) await publish({ id: `m${n}`, key: `k${n % 20}` });
  const other = pgQueue({ claims: otherLane, finishes: otherLane }, scriptedNow);
  const taken = await Promise.all([queue, other, queue, other].map((by) => by.claim([ask({ room: 8 })])));
  const all = taken.flatMap((claimed) => claimed.deliveries);
  expect(new Set(all.map((delivery) => delivery.key)).size).toBe(all.length);
  expect(all.length).toBe(20);
});

test("what somebody is claiming at this moment is passed over, not waited for and taken as well", async () => {
  await publish({ id: "m" });
  const asked = [["work"], ["a"], [10], [60_000]];
  await lane.transact(async (first) => {
    expect(await first.unsafe(texts.claimPartitions, asked)).toHaveLength(1);
    const second = await otherLane.transact(async (tx) => {
      await tx.unsafe("set local lock_timeout = '2s'");
      return [...(await tx.unsafe(texts.claimPartitions, asked))];
    });
    expect(second).toEqual([]);
  });
});

test("publishing and finishing at once strand nothing", async () => {
  const other = pgQueue({ claims: otherLane, finishes: otherLane }, scriptedNow);
  await publish({ id: "m0" });
  for (let round = 0; round < 50; round += 1) {
    const delivery = await one();
    await Promise.all([finish(delivery, done, other), publish({ id: `m${round + 1}` })]);
  }
  expect((await one()).messageId).toBe("m50");
});

type Step =
  | { kind: "publish"; id: number; key: number; topic: "work" | "shared"; once: boolean }
  | { kind: "claim"; room: number }
  | { kind: "finish"; which: number; how: Finish }
  | { kind: "pass"; ms: number };

const finishes: fc.Arbitrary<Finish> = fc.oneof(
  fc.constant(done),
  fc.record({ kind: fc.constant("hold" as const), delayMs: fc.nat(5_000), fresh: fc.boolean() }),
  fc.record({ kind: fc.constant("retry" as const), delayMs: fc.nat(5_000), isBarrier: fc.boolean() }),
  fc.constant<Finish>({ kind: "dead", reason: "lapsed" }),
  fc.constant<Finish>({ kind: "return" }),
);
const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("publish" as const),
    id: fc.nat(3),
    key: fc.nat(1),
    topic: fc.constantFrom("work" as const, "shared" as const),
    once: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("claim" as const), room: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constant("finish" as const), which: fc.nat(5), how: finishes }),
  fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 4_000 }) }),
);

const everyAsk = [
  ask({ visibilityMs: 3_000 }),
  ask({ topic: "shared", visibilityMs: 3_000 }),
  ask({ topic: "shared", group: "b", visibilityMs: 3_000 }),
  ask({ topic: "work_dlq", group: "a-dlq", visibilityMs: 3_000 }),
];

const shown = (delivery: Delivery) => {
  const { topic, group, key, messageId, attempt, holds, heldForMs } = delivery;
  return JSON.stringify({ topic, group, key, messageId, attempt, holds, heldForMs: Math.round(heldForMs) });
};

test("PostgreSQL and the model agree on every step of random histories", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 10, maxLength: 40 }), async (history) => {
      await empty();
      const model = new ModelQueue({ now: () => nowMs, groupsOf: (topic) => groups[topic] ?? [] });
      const hands: [Delivery, Delivery][] = [];
      for (const step of history) {
        if (step.kind === "publish") {
          const message = { id: `m${step.id}`, key: `k${step.key}`, topic: step.topic, once: step.once };
          const whole = { ...message, payload: { for: message.id } };
          expect(await publish(message)).toBe(model.publish(whole));
        } else if (step.kind === "claim") {
          const asks = everyAsk.map((one) => ({ ...one, room: step.room * 2 }));
          const [real, modelled] = [await queue.claim(asks), model.claim(asks)];
          expect(real.deliveries.map(shown).sort()).toEqual(modelled.deliveries.map(shown).sort());
          expect(real.exhausted.length).toBe(modelled.exhausted.length);
          expect(real.nextDueInMs).toBe(modelled.nextDueInMs);
          for (const delivery of real.deliveries) {
            const twin = modelled.deliveries.find((other) => shown(other) === shown(delivery));
            if (twin !== undefined) hands.push([delivery, twin]);
          }
        } else if (step.kind === "finish") {
          const pair = hands[step.which % Math.max(1, hands.length)];
          if (pair === undefined) continue;
          const isStored = model.finish([{ delivery: pair[1], finish: step.how }]).wereStored[0];
          expect(await finish(pair[0], step.how)).toBe(isStored);
        } else await pass(step.ms);
      }
      const letters = await lane.transact((tx) =>
        tx.unsafe("select message_id, occurrences, failures, state from signal_dead_letters"),
      );
      const asText = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).sort();
      expect(asText([...letters])).toEqual(
        asText(
          model.letters.map((letter) => ({
            message_id: letter.messageId,
            occurrences: letter.occurrences,
            failures: letter.failures,
            state: letter.state,
          })),
        ),
      );
    }),
    { numRuns: 60 },
  );
});
