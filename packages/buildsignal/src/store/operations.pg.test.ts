import { type Lane, openLane } from "@millrace/db/lane";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { freshDatabase, type TestDatabase } from "../../../../test/services/database.ts";
import type { Delivery } from "../queue/message.ts";
import { pgGates } from "./pg-gates.ts";
import { pruneOld } from "./pg-prune.ts";
import { pgQueue, serverNow } from "./pg-queue.ts";
import { pgQueueConfigs } from "./pg-queue-configs.ts";
import { publishMessage } from "./publish.ts";
import { queueTexts } from "./queue-texts.ts";

let fresh: TestDatabase;
let lane: Lane;
let queue: ReturnType<typeof pgQueue>;
let opened: number;

const texts = queueTexts(serverNow);

beforeAll(async () => {
  fresh = await freshDatabase();
  lane = openLane({ url: fresh.url, name: "operations test", timeoutMs: 60_000 });
  queue = pgQueue({ claims: lane, finishes: lane });
});
afterAll(async () => {
  await lane.close();
  await fresh.drop();
});
beforeEach(async () => {
  opened = 0;
  await lane.transact((tx) =>
    tx.unsafe(`truncate signal_deliveries, signal_partitions, signal_dead_letters, signal_gates,
      signal_queue_configs, signal_queues, signal_requests, signal_request_log`),
  );
});

const rows = (text: string) => lane.transact(async (tx) => [...(await tx.unsafe(text))]);
const gates = () => pgGates(lane, () => (opened += 1));

async function publish(...keys: string[]): Promise<void> {
  for (const key of keys) {
    const message = { topic: "process", key, id: `of-${key}`, payload: {} };
    await lane.transact((tx) => publishMessage(tx, message, { texts, groups: ["g"] }));
  }
}
const ask = { topic: "process", group: "g", room: 10, visibilityMs: 60_000, attemptsMax: 3 };
const keysOf = (deliveries: readonly Delivery[]) => deliveries.map(({ key }) => key).sort();

test("behind a closed gate nothing is handed out or due; opened, it comes as if nothing had been", async () => {
  await gates().close({ stage: "process", key: "a" }, "its runner is repaired");
  await publish("a", "b");
  const first = await queue.claim([ask]);
  expect(keysOf(first.deliveries)).toEqual(["b"]);
  await queue.finish(first.deliveries.map((delivery) => ({ delivery, finish: { kind: "done" } as const })));
  expect(await queue.claim([ask])).toMatchObject({ deliveries: [], nextDueInMs: undefined });
  expect(await gates().open({ stage: "process", key: "a" })).toBe(true);
  expect(opened).toBe(1);
  expect((await queue.claim([ask])).deliveries).toMatchObject([{ key: "a", attempt: 1, holds: 0 }]);
});

test("a gate without a key closes its whole stage and no other", async () => {
  await gates().close({ stage: "process", key: "" }, "");
  await gates().close({ stage: "process", key: "" }, "said twice");
  await gates().close({ stage: "build", key: "b" }, "");
  await publish("a", "b");
  expect((await queue.claim([ask])).deliveries).toEqual([]);
  expect(await rows("select reason from signal_gates where topic = 'process'")).toEqual([
    { reason: "said twice" },
  ]);
  expect(await gates().open({ stage: "process", key: "" })).toBe(true);
  expect(await gates().open({ stage: "process", key: "" })).toBe(false);
  expect(keysOf((await queue.claim([ask])).deliveries)).toEqual(["a", "b"]);
});

test("who has a delivery in hand when its gate closes finishes it", async () => {
  await publish("a");
  const { deliveries } = await queue.claim([ask]);
  await gates().close({ stage: "process", key: "a" }, "");
  const finished = deliveries.map((delivery) => ({ delivery, finish: { kind: "done" } as const }));
  expect((await queue.finish(finished)).wereStored).toEqual([true]);
});

test("a configuration is stored against the version that was read", async () => {
  const configs = pgQueueConfigs(lane);
  const change = { name: "trunk", project: "default", config: { n: 1 } };
  expect(await configs.put({ ...change, version: 3 })).toEqual({ kind: "conflict", version: 0 });
  expect(await configs.put({ ...change, version: 0 })).toEqual({ kind: "stored", version: 1 });
  expect(await configs.put({ ...change, version: 0 })).toEqual({ kind: "conflict", version: 1 });
  expect(await configs.put({ ...change, config: { n: 2 }, version: undefined })).toEqual({
    kind: "stored",
    version: 2,
  });
  const [stored] = await configs.list();
  expect(stored).toMatchObject({ name: "trunk", config: { n: 2 } });
  expect(await configs.remove("trunk")).toBe("removed");
  expect([await configs.remove("trunk"), await configs.list()]).toEqual(["missing", []]);
});

test("a queue stays in its project, and stays while requests of it are under way", async () => {
  await rows("insert into signal_queues (name, project_id, version) values ('trunk', 'default', 1)");
  const configs = pgQueueConfigs(lane);
  const change = { name: "trunk", config: {}, version: undefined };
  expect(await configs.put({ ...change, project: "other" })).toEqual({
    kind: "other-project",
    project: "default",
  });
  expect(await configs.put({ ...change, project: "default" })).toMatchObject({ kind: "stored" });
  await rows(`insert into signal_requests (id, queue, number, uri, state, created_at, version)
    values ('request/trunk/1', 'trunk', 1, 'c', 'processing', now(), 1)`);
  expect(await configs.remove("trunk")).toBe("busy");
  await rows("update signal_requests set state = 'failed'");
  expect(await configs.remove("trunk")).toBe("removed");
});

test("a queue of the file is shown and not changed from elsewhere; one that left the file is free again", async () => {
  const configs = pgQueueConfigs(lane);
  const ofApi = { name: "trunk", project: "default", config: {}, version: undefined };
  await configs.put(ofApi);
  await configs.showFile([{ name: "trunk", project: "default", config: { of: "file" } }]);
  expect([await configs.put(ofApi), await configs.remove("trunk"), await configs.list()]).toEqual([
    { kind: "of-file" },
    "of-file",
    [],
  ]);
  expect(await rows("select origin, config from signal_queue_configs")).toEqual([
    { origin: "file", config: { of: "file" } },
  ]);
  await configs.showFile([]);
  expect(await configs.put(ofApi)).toEqual({ kind: "stored", version: 1 });
});

test("old letters go when they are settled, old lines when their request has ended; all else stays", async () => {
  await rows(`insert into signal_dead_letters
    (topic, group_name, partition_key, message_id, payload, metadata, state, failures,
     first_reason, last_reason, first_failed_at, last_failed_at, settled_at)
    select 'build', 'g', id, id, '{}', '{}', state, 1, 'r', 'r', at, at, case when state <> 'open' then at end
    from (values ('old', 'redriven', now() - interval '11 days'), ('new', 'discarded', now() - interval '9 days'),
      ('open', 'open', now() - interval '99 days')) v(id, state, at)`);
  await rows(`insert into signal_requests (id, queue, number, uri, state, created_at, version)
    values ('over', 'q', 1, 'c', 'failed', now(), 1), ('runs', 'q', 2, 'd', 'processing', now(), 1)`);
  await rows(`insert into signal_request_log (request_id, queue, at, who, from_state, to_state)
    select id, 'q', now() - make_interval(days => days), 'test', '', 'accepted'
    from (values ('over', 31), ('over', 29), ('runs', 31), ('gone', 31)) v(id, days)`);
  await rows(`insert into signal_request_log (request_id, queue, at, who, from_state, to_state)
    select 'over', 'q', now() - interval '40 days', 'many', '', '' from generate_series(1, 2500)`);
  expect(await pruneOld(lane, { letters: 10, log: 30 })).toEqual({ letters: 1, log: 2_502 });
  expect(await rows("select message_id from signal_dead_letters order by 1")).toEqual([
    { message_id: "new" },
    { message_id: "open" },
  ]);
  expect(await rows("select request_id from signal_request_log order by 1")).toEqual([
    { request_id: "over" },
    { request_id: "runs" },
  ]);
});
