import { latch } from "@millrace/base/latch";
import { ScriptedClock } from "@millrace/base/scripted-clock";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDatabase, type TestDatabase } from "../../test/services/database.ts";
import { type BreakingProxy, breakingProxy } from "./breaking-proxy.fixture.ts";
import { connect, type Database } from "./connect.ts";
import { classifyFailure } from "./errors.ts";
import { isInDoubt } from "./in-doubt.ts";
import { type Lane, type LaneTransaction, openLane } from "./lane.ts";

let fresh: TestDatabase;
let proxy: BreakingProxy;
let admin: Database;
const lanes: Lane[] = [];

beforeAll(async () => {
  fresh = await freshDatabase({ empty: true });
  proxy = await breakingProxy(fresh.url);
  admin = connect({ url: fresh.url, max: 1, name: "admin" });
  await admin.sql.unsafe("create table marks (mark text)");
});
afterAll(async () => {
  await Promise.all([...lanes.map((lane) => lane.close()), admin.close()]);
  await proxy[Symbol.asyncDispose]();
  await fresh.drop();
});

function lane(): Lane {
  const opened = openLane({ url: proxy.url, name: "lane" });
  lanes.push(opened);
  return opened;
}

async function mark(tx: LaneTransaction, text: string): Promise<void> {
  await tx.unsafe("insert into marks values ($1)", [text]);
}

async function isMarked(text: string): Promise<boolean> {
  return (await admin.sql.unsafe("select 1 from marks where mark = $1", [text])).length > 0;
}

async function kill(tx: LaneTransaction): Promise<void> {
  const [row] = await tx.unsafe("select pg_backend_pid() as pid");
  await admin.sql.unsafe("select pg_terminate_backend($1, 5000)", [row?.pid]);
}

/** What a promise fails with. */
function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test("what a transaction wrote is there after it, and not when it failed", async () => {
  const one = lane();
  expect(
    await one.transact(async (tx) => {
      await mark(tx, "done");
      return 7;
    }),
  ).toBe(7);
  const failed = one.transact(async (tx) => {
    await mark(tx, "undone");
    throw new Error("changed my mind");
  });
  await expect(failed).rejects.toThrow("changed my mind");
  expect([await isMarked("done"), await isMarked("undone")]).toEqual([true, false]);
});

test("transactions of a lane run one after another", async () => {
  const one = lane();
  const order: string[] = [];
  const first = latch();
  const both = Promise.all([
    one.transact(async (tx) => {
      await tx.unsafe("select 1");
      await first.promise;
      order.push("first");
    }),
    one.transact(async () => void order.push("second")),
  ]);
  first.open();
  await both;
  expect(order).toEqual(["first", "second"]);
});

test("a failed statement fails its transaction with its own error, and the next one is well", async () => {
  const one = lane();
  const failure = await failureOf(
    one.transact((tx) => Promise.all([tx.unsafe("select 1/0"), tx.unsafe("select 2"), mark(tx, "after")])),
  );
  expect(failure).toMatchObject({ code: "22012" });
  await one.transact((tx) => mark(tx, "well"));
  expect([await isMarked("after"), await isMarked("well")]).toEqual([false, true]);
});

test("a statement that comes after its transaction has failed is not sent", async () => {
  const one = lane();
  const late = latch();
  let straggler: Promise<void> | undefined;
  const failure = await failureOf(
    one.transact((tx) => {
      straggler = late.promise.then(() => mark(tx, "straggler"));
      return Promise.all([straggler, tx.unsafe("select 1/0")]);
    }),
  );
  expect(failure).toMatchObject({ code: "22012" });
  late.open();
  expect(await failureOf(straggler ?? Promise.resolve())).toMatchObject({ code: "connection-lost" });
  expect(await isMarked("straggler")).toBe(false);
});

test("a backend that dies during a statement fails the transaction; the next one has a new connection", async () => {
  const one = lane();
  const failure = await failureOf(
    one.transact(async (tx) => {
      const [row] = await tx.unsafe("select pg_backend_pid() as pid");
      const sleep = Promise.resolve(tx.unsafe("select pg_sleep(60)"));
      await Promise.all([sleep, admin.sql.unsafe("select pg_terminate_backend($1, 5000)", [row?.pid])]);
    }),
  );
  expect(classifyFailure(failure)).toBe("retry");
  expect(isInDoubt(failure)).toBe(false);
  await one.transact((tx) => mark(tx, "risen"));
  expect(await isMarked("risen")).toBe(true);
});

test("a backend that dies between statements does the same", async () => {
  const one = lane();
  const failure = await failureOf(
    one.transact(async (tx) => {
      await mark(tx, "lost");
      await kill(tx);
      await mark(tx, "never");
    }),
  );
  expect(classifyFailure(failure)).toBe("retry");
  await one.transact((tx) => mark(tx, "risen again"));
  expect([await isMarked("lost"), await isMarked("risen again")]).toEqual([false, true]);
});

test("a backend that dies while a statement waits behind a COPY fails the transaction", async () => {
  const one = lane();
  const failure = await failureOf(
    one.transact(async (tx) => {
      const [row] = await tx.unsafe("select pg_backend_pid() as pid");
      const copy = await tx.unsafe("copy marks from stdin").writable();
      copy.on("error", () => {});
      const behind = tx.unsafe("select 1");
      await Promise.all([behind, admin.sql.unsafe("select pg_terminate_backend($1, 5000)", [row?.pid])]);
    }),
  );
  expect(classifyFailure(failure)).toBe("retry");
  await one.transact((tx) => mark(tx, "behind a copy"));
  expect(await isMarked("behind a copy")).toBe(true);
});

test("nothing of a transaction is left on its connection", async () => {
  const one = lane();
  for (let times = 0; times < 20; times += 1) await one.transact((tx) => mark(tx, "again and again"));
  const warnings: Error[] = [];
  const hear = (warning: Error) => void warnings.push(warning);
  process.on("warning", hear);
  for (let times = 0; times < 20; times += 1) await one.transact((tx) => mark(tx, "and again"));
  process.off("warning", hear);
  expect(warnings).toEqual([]);
});

test("a COMMIT whose answer is lost is in doubt, though it happened", async () => {
  const one = lane();
  await one.transact((tx) => mark(tx, "before"));
  proxy.loseNextCommitAnswer();
  const failure = await failureOf(one.transact((tx) => mark(tx, "in doubt, done")));
  expect(isInDoubt(failure)).toBe(true);
  await expect.poll(() => isMarked("in doubt, done"), { timeout: 20_000 }).toBe(true);
  await one.transact((tx) => mark(tx, "after doubt"));
});

test("a COMMIT during which the backend dies is in doubt, though it did not happen", async () => {
  await admin.sql.unsafe(`
    create table slow (x int);
    create function sleep() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return null; end $$;
    create constraint trigger slow_commit after insert on slow deferrable initially deferred
      for each row execute function sleep()`);
  const one = lane();
  const failure = await failureOf(
    one.transact(
      async (tx) => {
        await mark(tx, "in doubt, undone");
        await tx.unsafe("insert into slow values (1)");
      },
      {
        sent: async () => {
          const sleeping =
            "select pid from pg_stat_activity where query = 'commit' and wait_event = 'PgSleep'";
          await expect.poll(() => admin.sql.unsafe(sleeping), { timeout: 20_000 }).toHaveLength(1);
          await admin.sql.unsafe(`select pg_terminate_backend(pid, 5000) from (${sleeping}) s`);
        },
        answered: () => {},
      },
    ),
  );
  expect(isInDoubt(failure)).toBe(true);
  expect(await isMarked("in doubt, undone")).toBe(false);
});

test("a COMMIT that the server refuses is not in doubt", async () => {
  await admin.sql.unsafe("create table pairs (x int unique deferrable initially deferred)");
  const one = lane();
  const failure = await failureOf(one.transact((tx) => tx.unsafe("insert into pairs values (1), (1)")));
  expect(isInDoubt(failure)).toBe(false);
  expect(failure).toMatchObject({ code: "23505" });
  await one.transact((tx) => mark(tx, "after refusal"));
});

test("while the server is away transactions fail, however many, and are well when it is back", async () => {
  const one = lane();
  await one.transact((tx) => mark(tx, "there"));
  proxy.refuse();
  for (let tries = 0; tries < 5; tries += 1) {
    const failure = await failureOf(one.transact((tx) => mark(tx, "away")));
    expect(classifyFailure(failure)).toBe("retry");
  }
  proxy.allow();
  await one.transact((tx) => mark(tx, "back"));
  expect([await isMarked("away"), await isMarked("back")]).toEqual([false, true]);
});

test("a server that is silent for too long is given up", async () => {
  const clock = new ScriptedClock();
  const one = openLane({ url: proxy.url, name: "patient", timeoutMs: 60_000 }, clock);
  lanes.push(one);
  const isAsleep = latch();
  const failed = failureOf(
    one.transact(async (tx) => {
      await mark(tx, "asleep");
      isAsleep.open();
      await tx.unsafe("select pg_sleep(60)");
    }),
  );
  await isAsleep.promise;
  await clock.advance(180_000);
  expect(classifyFailure(await failed)).toBe("retry");
});
