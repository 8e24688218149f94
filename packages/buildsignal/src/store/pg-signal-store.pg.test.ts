import { systemClock } from "@millrace/base/clock";
import { systemRandom } from "@millrace/base/random";
import { connect, type Database } from "@millrace/db/connect";
import { type Lane, openLane } from "@millrace/db/lane";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { freshDatabase, type TestDatabase } from "../../../../test/services/database.ts";
import { type Build, changed } from "../entities.ts";
import { judge } from "../queue/verdict.ts";
import { slotOf, stageBench } from "../stage-bench.fixture.ts";
import type { SignalStore } from "../store.ts";
import { recordMessage } from "../topics.ts";
import { readGauges } from "./pg-gauges.ts";
import { pgSignalStore } from "./pg-signal-store.ts";

let fresh: TestDatabase;
let database: Database;
let lanes: Lane[];
let store: SignalStore;
let published: number;

beforeAll(async () => {
  fresh = await freshDatabase();
  database = connect({ url: fresh.url, max: 2, name: "store test" });
  lanes = [1, 2].map((nth) => openLane({ url: fresh.url, name: `store test ${nth}`, timeoutMs: 60_000 }));
  const onPublished = (): void => {
    published += 1;
  };
  store = pgSignalStore({ database, lanes, clock: systemClock, random: systemRandom, onPublished });
});
afterAll(async () => {
  await Promise.all(lanes.map((lane) => lane.close()));
  await database.close();
  await fresh.drop();
});
beforeEach(async () => {
  published = 0;
  await database.sql.unsafe(
    "truncate signal_queues, signal_requests, signal_builds, signal_facts, signal_request_uris, signal_deliveries, signal_partitions, outbox, signal_request_log",
  );
});

const bench = stageBench();
const queue = bench.putQueue({
  slots: [slotOf("request/main/1", { expiresAtMs: 5 })],
  nextAdmissionAtMs: 1_234,
});
const request = bench.putRequest(1, "processing", { strategy: "full", metadata: { a: "b" }, reason: null });
const build: Build = {
  ...bench.putBuild({ metadata: { number: "7" } }),
  createdAtMs: 17,
  deadlineAtMs: 4_000,
};
const fact = { queue: "main", uri: "u", part: "", degree: 1, requestId: request.id, createdAtMs: 9 } as const;
const uri = { queue: "main", uri: "u", requestId: request.id, version: 1 };

async function putAll(): Promise<void> {
  await store.transact(async (tx) => {
    const made = [
      await tx.createQueue(queue),
      await tx.createRequest(request),
      await tx.createBuild(build),
      await tx.createFact(fact),
      await tx.createRequestUri(uri),
    ];
    expect(made).toEqual([true, true, true, true, true]);
  });
}

test("what was stored is read as it was, absent things are undefined", async () => {
  const readAll = () =>
    Promise.all([
      store.queue("main"),
      store.request(request.id),
      store.build(build.id),
      store.fact("main", "u", ""),
      store.requestUri("main", "u"),
      store.polledBuild(build.id),
    ]);
  expect(await readAll()).toEqual(Array.from({ length: 6 }, () => undefined));
  await putAll();
  expect(await readAll()).toEqual([queue, request, build, fact, uri, { build, request }]);
});

test("creating twice answers false and changes nothing", async () => {
  await putAll();
  await store.transact(async (tx) => {
    const again = [
      await tx.createQueue({ ...queue, project: "x" }),
      await tx.createRequest({ ...request, state: "failed" }),
      await tx.createBuild({ ...build, status: "failed" }),
      await tx.createFact({ ...fact, degree: 0 }),
      await tx.createRequestUri({ ...uri, requestId: "x" }),
    ];
    expect(again).toEqual([false, false, false, false, false]);
  });
  expect([await store.queue("main"), await store.fact("main", "u", "")]).toEqual([queue, fact]);
});

test("an update counts only on the version before; a missing row is a mismatch", async () => {
  const next = {
    queue: changed(queue, { slots: [] }),
    request: changed(request, { state: "failed", reason: "x" }),
  };
  const updates = () =>
    store.transact(async (tx) => [
      await tx.updateQueue(next.queue),
      await tx.updateRequest(next.request),
      await tx.updateBuild(changed(build, { status: "failed", reason: "timed_out" })),
      await tx.updateRequestUri(changed(uri, { requestId: "y" })),
    ]);
  expect(await updates()).toEqual([false, false, false, false]);
  await putAll();
  expect(await updates()).toEqual([true, true, true, true]);
  expect(await updates()).toEqual([false, false, false, false]);
  expect([await store.queue("main"), await store.request(request.id)]).toEqual([next.queue, next.request]);
});

test("of two who change the same version at once one wins", async () => {
  await putAll();
  const change = (reason: string) =>
    store.transact((tx) => tx.updateRequest(changed(request, { state: "failed", reason })));
  const won = await Promise.all([change("a"), change("b"), change("c"), change("d")]);
  expect(won.filter(Boolean)).toHaveLength(1);
});

test("a step that fails leaves nothing: no entity, message, log, fact for others, and wakes nobody", async () => {
  const step = store.transact(async (tx) => {
    await tx.createRequest(request);
    await tx.publish(recordMessage(request));
    await tx.announce({ project: "default", kind: "commit-green", subject: request.id, data: {} });
    throw new Error("halfway");
  });
  await expect(step).rejects.toThrow("halfway");
  expect(await store.request(request.id)).toBeUndefined();
  for (const table of ["signal_deliveries", "signal_partitions", "outbox"]) {
    expect(await database.sql.unsafe(`select * from ${table}`)).toHaveLength(0);
  }
  expect(published).toBe(0);
});

test("a step that publishes wakes once it has committed", async () => {
  await store.transact(async (tx) => {
    expect(await tx.publish(recordMessage(request))).toBe("published");
    expect(await tx.publish(recordMessage(request))).toBe("duplicate");
    expect(published).toBe(0);
  });
  expect(published).toBe(1);
});

test("many builds that are asked for at once are few statements, each with its own answer", async () => {
  await putAll();
  const ids = [build.id, "main/none", build.id, "main/other"];
  const found = await Promise.all(ids.map((id) => store.polledBuild(id)));
  expect(found.map((one) => one?.build.id)).toEqual([build.id, undefined, build.id, undefined]);
});

test("a database that does not answer is a failure that may pass", async () => {
  const away = connect({ url: "postgres://nobody@127.0.0.1:1/none", max: 1, name: "away" });
  const awayLane = openLane({ url: "postgres://nobody@127.0.0.1:1/none", name: "away" });
  const other = pgSignalStore({
    database: away,
    lanes: [awayLane],
    clock: systemClock,
    random: systemRandom,
    onPublished: () => {},
  });
  const verdicts = await Promise.all([
    other.request("x").catch(judge),
    other.polledBuild("x").catch(judge),
    other.transact((tx) => tx.request("x")).catch(judge),
  ]);
  expect(verdicts).toEqual(["infra-retryable", "infra-retryable", "infra-retryable"]);
  await Promise.all([away.close(), awayLane.close()]);
});

test("the gauges tell slots, dead letters, closed gates and what is unfinished", async () => {
  await putAll();
  await database.sql`insert into signal_gates values ('build', '', '', now()), ('build', 'b', '', now())`;
  await store.transact((tx) => tx.publish(recordMessage(request)));
  expect(await readGauges(database)).toEqual({
    slots: [{ queue: "main", taken: 1 }],
    letters: [],
    gates: [{ topic: "build", closed: 2 }],
    deliveries: [{ topic: "record", unfinished: 1, held: 0, heldSecondsMax: 0 }],
  });
});
