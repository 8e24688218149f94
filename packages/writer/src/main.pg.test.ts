import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { silentLog } from "@millrace/base/log";
import { connect, type Database } from "@millrace/db/connect";
import {
  batchChannel,
  keyLookupChannel,
  leaseChannel,
  lifecycleChannel,
  shardSubject,
} from "@millrace/proto/channels";
import { connectBus, type NatsBus } from "@millrace/proto/nats-bus";
import type { IBatchReply, IBatchRequest } from "@millrace/proto/pipeline";
import { shardOf } from "@millrace/proto/tokens";
import { jetstream } from "@nats-io/jetstream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { freshDatabase, type TestDatabase } from "../../../test/services/database.ts";
import { type OwnNatsServer, ownNatsServer } from "../../../test/services/nats.ts";
import { commitPointNames } from "./failpoints.ts";
import { batchMessage } from "./works.fixture.ts";

let fresh: TestDatabase;
let database: Database;
let nats: OwnNatsServer;
let bus: NatsBus;
let children: ChildProcess[];
let blobDirectory: string;

beforeEach(async () => {
  fresh = await freshDatabase();
  database = connect({ url: fresh.url, max: 1, name: "test" });
  nats = await ownNatsServer();
  bus = await connectBus({ servers: nats.server.url, name: "test", log: silentLog });
  children = [];
  blobDirectory = await mkdtemp(path.join(tmpdir(), "millrace-writer-"));
});
afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  await bus.close();
  await nats[Symbol.asyncDispose]();
  await database.close();
  await fresh.drop();
  await rm(blobDirectory, { recursive: true, force: true });
});

async function startWriter(environment: Record<string, string> = {}): Promise<ChildProcess> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, "main.ts")], {
    env: {
      MILLRACE_DATABASE_URL: fresh.url,
      MILLRACE_NATS_URL: nats.server.url,
      MILLRACE_LOG_LEVEL: "error",
      MILLRACE_BLOB_DIRECTORY: blobDirectory,
      ...environment,
    },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  children.push(child);
  await once(child, "message");
  return child;
}

/** Asks as an actor does: until there is an answer. */
async function ask(message: IBatchRequest): Promise<IBatchReply> {
  const { project = "", invocationId = "" } = message.key ?? {};
  const subject = shardSubject(batchChannel, shardOf(project ?? "", invocationId ?? ""));
  for (;;) {
    try {
      return await bus.request(batchChannel, { subject, message, timeoutMs: 3_000 });
    } catch {
      await database.sql.unsafe("select pg_sleep(0.05)");
    }
  }
}

/** The second visit: the first opens the stream. Facts of both may leave in one visit. */
function dyingAt(name: (typeof commitPointNames)[number]): string {
  return name === "facts-taken" ? name : `${name}:2`;
}

test.each(commitPointNames)(
  "killed at %s, the next writer commits what this one was asked, once",
  async (name) => {
    const dying = await startWriter({ MILLRACE_FAIL_POINT: dyingAt(name) });
    const first = batchMessage({ first: 1, last: 5 });
    const opened = await ask(first);
    const attemptId = opened.committed?.opened?.attemptId ?? 0;
    const died = once(dying, "exit");
    const next = ask(
      batchMessage({ attemptId, first: 6, last: 9, ends: true, rows: { invocation: { exitCode: 0 } } }),
    );
    expect(await died).toEqual([null, "SIGKILL"]);
    await startWriter();
    expect(await next).toMatchObject({ committed: { lastSequence: 9, partial: false } });
    expect(await database.sql.unsafe("select first_seq, last_seq from event_segments order by 1")).toEqual([
      { first_seq: 1, last_seq: 5 },
      { first_seq: 6, last_seq: 9 },
    ]);
    const facts = await database.sql.unsafe("select event ->> 'type' as type from outbox order by id");
    expect(facts).toEqual([
      { type: "millrace.invocation.started" },
      { type: "millrace.invocation.finished" },
    ]);
    expect(await database.sql.unsafe("select status, event_count from invocations")).toEqual([
      { status: "succeeded", event_count: 9 },
    ]);
  },
);

test("a writer answers look-ups, leases and lifecycle calls, and its facts reach JetStream", async () => {
  await startWriter();
  const at = { timeoutMs: 10_000 };
  const key = await bus.request(keyLookupChannel, { ...at, subject: keyLookupChannel.name, message: {} });
  expect(key).toMatchObject({ known: true, project: "default" });
  expect(key.serverSecret).toHaveLength(32);
  await bus.request(leaseChannel, { ...at, subject: leaseChannel.name, message: { node: "n" } });
  expect(await database.sql.unsafe("select id from nodes")).toEqual([{ id: "n" }]);
  const call = { project: "default", buildId: "b", invocationId: "i", component: 3, sequence: 1 };
  const message = { calls: [call, { ...call, invocationId: "" }] };
  await bus.request(lifecycleChannel, { ...at, subject: lifecycleChannel.name, message });
  expect(await database.sql.unsafe("select invocation_id from lifecycle_events order by 1")).toEqual([
    { invocation_id: "" },
    { invocation_id: "i" },
  ]);
  await ask(batchMessage({ first: 1, last: 1 }));
  const published = "select published_at is not null as published from outbox";
  await expect.poll(() => database.sql.unsafe(published), { timeout: 30_000 }).toEqual([{ published: true }]);
  const consumer = await jetstream(bus.connection).consumers.get("MILLRACE_EVENTS");
  const fact = await consumer.next();
  expect(fact?.json()).toMatchObject({ type: "millrace.invocation.started", data: { lastEventSeq: 1 } });
});

test("on SIGTERM a writer answers what it has, hands over and exits 0", async () => {
  const [leaving] = [await startWriter(), await startWriter()];
  const exited = once(leaving, "exit");
  leaving.kill("SIGTERM");
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      ask(batchMessage({ invocation: `i${index}`, first: 1, last: 1 })),
    ),
  );
  for (const reply of replies) expect(reply).toMatchObject({ committed: { lastSequence: 1 } });
  expect(await exited).toEqual([0, null]);
});

test("a writer outlives PostgreSQL's restart: every connection is ended and it goes on", async () => {
  await startWriter();
  const opened = await ask(batchMessage({ first: 1, last: 1 }));
  const attemptId = opened.committed?.opened?.attemptId ?? 0;
  await database.sql.unsafe(
    "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name like 'millrace-writer%'",
  );
  expect(await ask(batchMessage({ attemptId, first: 2, last: 2 }))).toMatchObject({
    committed: { lastSequence: 2 },
  });
  expect(children[0]?.exitCode).toBeNull();
});
