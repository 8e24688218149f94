import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { silentLog } from "@millrace/base/log";
import { connect, type Database } from "@millrace/db/connect";
import { type SignalAnswer, type SignalCommand, signalCommandChannel } from "@millrace/proto/channels";
import { connectBus, type NatsBus } from "@millrace/proto/nats-bus";
import { afterEach, beforeEach, expect, test } from "vitest";
import { freshDatabase, type TestDatabase } from "../../../test/services/database.ts";
import { type OwnNatsServer, ownNatsServer } from "../../../test/services/nats.ts";
import { failPointNames } from "./failpoints.ts";

let fresh: TestDatabase;
let database: Database;
let nats: OwnNatsServer;
let bus: NatsBus;
let directory: string;
let children: ChildProcess[];

beforeEach(async () => {
  fresh = await freshDatabase();
  database = connect({ url: fresh.url, max: 1, name: "test" });
  nats = await ownNatsServer();
  bus = await connectBus({ servers: nats.server.url, name: "test", log: silentLog });
  directory = await mkdtemp(path.join(tmpdir(), "millrace-signal-"));
  children = [];
});
afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  await bus.close();
  await nats[Symbol.asyncDispose]();
  await database.close();
  await fresh.drop();
  await rm(directory, { recursive: true, force: true });
});

/** Visibilities are short, so that what a dead process had in hand is soon taken over. */
const quick = { visibility_ms: 1_500, retry_initial_ms: 50, retry_ms_max: 200, attempts_max: 3 };

async function start(
  how: { failPoint?: string; queue?: Record<string, unknown>; ops?: boolean } = {},
): Promise<ChildProcess> {
  const file = path.join(directory, "signal.json");
  const cadence = { accepted_ms: 50, running_ms: 50 };
  const main = { runner: { kind: "fake" }, gate_wait_delay_ms: 50, cadence, ...how.queue };
  const topics = { process: quick, build: quick, buildsignal: quick, record: quick };
  await writeFile(file, JSON.stringify({ queues: { main }, topics }));
  const child = spawn(process.execPath, [path.join(import.meta.dirname, "main.ts")], {
    env: {
      MILLRACE_DATABASE_URL: fresh.url,
      MILLRACE_NATS_URL: nats.server.url,
      MILLRACE_SIGNAL_CONFIG: file,
      MILLRACE_LOG_LEVEL: "error",
      ...(how.failPoint !== undefined && { MILLRACE_SIGNAL_FAIL_POINT: how.failPoint }),
    },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  children.push(child);
  await once(child, "message");
  return child;
}

/** Asks as the API does: until there is an answer. */
async function ask(command: SignalCommand): Promise<SignalAnswer> {
  for (;;) {
    try {
      const at = { subject: signalCommandChannel.name, message: command, timeoutMs: 2_000 };
      return await bus.request(signalCommandChannel, at);
    } catch {
      await database.sql.unsafe("select pg_sleep(0.05)");
    }
  }
}
const announce = (uri: string) => ask({ kind: "ingest", queue: "main", uri });

const rows = async (text: string) => [...(await database.sql.unsafe(text))];
const states = () => rows("select id, state, reason from signal_requests order by number");
const patience = { timeout: 60_000, interval: 50 };
const idle = () =>
  expect
    .poll(() => rows("select topic, message_id from signal_deliveries where done_at is null"), patience)
    .toEqual([]);
const slots = async () => (await rows("select slots from signal_queues"))[0]?.slots;

test("a commit is announced, built, polled, recorded, and told to others", async () => {
  await start();
  expect(await announce("good")).toEqual({ kind: "ok", requestId: "request/main/1", state: "accepted" });
  await idle();
  expect(await states()).toEqual([{ id: "request/main/1", state: "succeeded", reason: null }]);
  expect(await rows("select uri, degree, request_id from signal_facts")).toEqual([
    { uri: "good", degree: 0, request_id: "request/main/1" },
  ]);
  expect(await rows("select last_green_uri, slots from signal_queues")).toEqual([
    { last_green_uri: "good", slots: [] },
  ]);
  expect(await rows("select who, from_state, to_state from signal_request_log order by id")).toEqual([
    { who: "ingest", from_state: "", to_state: "accepted" },
    { who: "process", from_state: "accepted", to_state: "processing" },
    { who: "buildsignal", from_state: "processing", to_state: "succeeded" },
  ]);
  expect((await rows("select subject from outbox order by id")).map((row) => row.subject)).toEqual([
    ...[1, 2, 3].map(() => "events.default.signal.request-changed"),
    "events.default.signal.commit-green",
  ]);
  expect(await rows("select * from signal_partitions")).toEqual([]);
});

test("broken, cancelled, without a verdict, given up: each ends, and only verdicts are facts", async () => {
  await start({ queue: { max_concurrent: 10 } });
  for (const [uri, state, reason] of [
    ["1-build-fails", "failed", null],
    ["2-build-cancelled", "cancelled", null],
    ["3-no-verdict", "failed", "skipped"],
    ["4-trigger-error", "failed", "processing_failed"],
    ["5-status-error", "failed", "build_polling_exhausted"],
    ["6-status-flaky", "failed", "build_polling_exhausted"],
    ["7-good", "succeeded", null],
  ] as const) {
    await announce(uri);
    await expect
      .poll(() => rows(`select state, reason from signal_requests where uri = '${uri}'`), patience)
      .toEqual([{ state, reason }]);
  }
  await idle();
  expect(await rows("select uri, degree from signal_facts order by uri")).toEqual([
    { uri: "1-build-fails", degree: 1 },
    { uri: "7-good", degree: 0 },
  ]);
  expect(await slots()).toEqual([]);
  expect(await rows("select distinct state from signal_dead_letters")).toEqual([{ state: "reconciled" }]);
});

test("a build that never ends is given up at its deadline", async () => {
  await start({ queue: { max_validation_ms: 1_000 } });
  await announce("never-ends");
  await idle();
  expect(await states()).toEqual([{ id: "request/main/1", state: "failed", reason: "timed_out" }]);
  expect([await slots(), await rows("select * from signal_facts")]).toEqual([[], []]);
});

test("heads that come while one is being built are superseded by the newest", async () => {
  await start();
  await announce("never-ends");
  await expect.poll(slots, patience).toHaveLength(1);
  for (const uri of ["a", "b", "c"]) await announce(uri);
  await expect
    .poll(async () => (await states()).map((row) => row.state), patience)
    .toEqual(["processing", "superseded", "superseded", "accepted"]);
  expect(await ask({ kind: "cancel", requestId: "request/main/4" })).toMatchObject({ state: "cancelled" });
  expect(await announce("c")).toMatchObject({ requestId: "request/main/5" });
});

test("an operator redrives a dead letter, or discards it", async () => {
  await start();
  await announce("4-trigger-error");
  await idle();
  const letter = {
    topic: "build",
    group: "millrace-build",
    key: "request/main/1",
    messageId: "request/main/1",
  };
  expect(await ask({ kind: "redrive", letter })).toEqual({ kind: "ok" });
  await idle();
  expect(await rows("select state, occurrences from signal_dead_letters")).toEqual([
    { state: "redriven", occurrences: 1 },
  ]);
  expect(await ask({ kind: "discard", letter: { id: 1 } })).toEqual({ kind: "ok" });
  expect(await rows("select state from signal_dead_letters")).toEqual([{ state: "discarded" }]);
  expect(await ask({ kind: "redrive", letter: { id: 2 } })).toMatchObject({ code: "not-found" });
  expect(await ask({ kind: "discard", letter: { ...letter, key: "x" } })).toMatchObject({ kind: "refused" });
});

test("a queue that the API sets is used by every process at once, and leaves when nothing is under way", async () => {
  await Promise.all([start(), start()]);
  const config = { runner: { kind: "fake" }, gate_wait_delay_ms: 50 };
  const configure = (version: number) => ask({ kind: "configure", queue: "release", config, version });
  expect(await ask({ kind: "ingest", queue: "release", uri: "r" })).toMatchObject({ code: "unknown-queue" });
  expect(await configure(0)).toEqual({ kind: "ok", version: 1 });
  expect(await configure(0)).toMatchObject({ kind: "refused", code: "version-mismatch" });
  for (let n = 1; n <= 6; n += 1) {
    const answer = await ask({ kind: "ingest", queue: "release", uri: `r${n}` });
    expect(answer).toMatchObject({ kind: "ok", requestId: `request/release/${n}` });
  }
  await idle();
  expect(await rows("select * from signal_dead_letters")).toEqual([]);
  expect((await states()).at(-1)).toMatchObject({ id: "request/release/6", state: "succeeded" });
  expect(await ask({ kind: "unconfigure", queue: "main" })).toMatchObject({ code: "of-file" });
  expect(await ask({ kind: "unconfigure", queue: "release" })).toEqual({ kind: "ok" });
  expect(await ask({ kind: "configure", queue: "x", config: {} })).toMatchObject({
    code: "invalid-configuration",
    message: expect.stringContaining("queue x, runner"),
  });
});

test("a queue that an operator stops goes on where it was when it is opened again", async () => {
  await start();
  const gate = { stage: "process", key: "main" };
  expect(await ask({ kind: "close-gate", ...gate, reason: "the runner is repaired" })).toEqual({
    kind: "ok",
  });
  await announce("good");
  expect(await ask({ kind: "close-gate", stage: "nothing", key: "" })).toMatchObject({ code: "invalid" });
  expect(await ask({ kind: "close-gate", stage: "process", key: "mian" })).toMatchObject({
    code: "unknown-queue",
  });
  expect(await states()).toMatchObject([{ state: "accepted" }]);
  expect(await ask({ kind: "open-gate", ...gate })).toEqual({ kind: "ok" });
  await idle();
  expect(await states()).toMatchObject([{ state: "succeeded" }]);
  expect(await ask({ kind: "open-gate", ...gate })).toMatchObject({ code: "not-found" });
});

test("what is old is removed when a process starts", async () => {
  await rows(`insert into signal_request_log (request_id, queue, at, who, from_state, to_state)
    values ('request/main/1', 'main', now() - interval '999 days', 'test', '', 'accepted')`);
  await start();
  await expect.poll(() => rows("select * from signal_request_log"), patience).toEqual([]);
});

test.each(failPointNames)(
  "killed at %s, another process finishes; nothing is lost or counted twice",
  async (name) => {
    const dying = await start({ failPoint: name });
    const died = once(dying, "exit");
    const answered = announce("good");
    expect(await died).toEqual([null, "SIGKILL"]);
    await start();
    expect(await answered).toMatchObject({ kind: "ok", requestId: "request/main/1" });
    await idle();
    expect(await states()).toEqual([{ id: "request/main/1", state: "succeeded", reason: null }]);
    expect(await rows("select request_id, degree from signal_facts")).toEqual([
      { request_id: "request/main/1", degree: 0 },
    ]);
    expect(await slots()).toEqual([]);
    const log = await rows("select to_state from signal_request_log order by id");
    expect(log.map((row) => row.to_state)).toEqual(["accepted", "processing", "succeeded"]);
    expect((await rows("select * from signal_builds")).length).toBe(1);
    expect(await rows("select * from signal_dead_letters")).toEqual([]);
  },
);

test("two processes share the work; one is killed, the other takes over within the visibility", async () => {
  const queue = { max_concurrent: 50, runner: { kind: "fake", build_ms: 800 } };
  const [first] = await Promise.all([start({ queue }), start({ queue })]);
  for (let n = 0; n < 20; n += 1) {
    await announce(`commit-${n}`);
    await expect.poll(async () => (await states())[n]?.state, patience).not.toBe("accepted");
  }
  first.kill("SIGKILL");
  await idle();
  const ended = await states();
  expect(new Set(ended.map((row) => row.state))).toEqual(new Set(["succeeded"]));
  expect([await slots(), (await rows("select * from signal_facts")).length]).toEqual([[], 20]);
});
