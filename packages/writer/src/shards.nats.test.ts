import { type Clock, systemClock } from "@millrace/base/clock";
import type { Stoppable } from "@millrace/base/lifecycle";
import { silentLog } from "@millrace/base/log";
import { ScriptedClock } from "@millrace/base/scripted-clock";
import { batchChannel, openChannel, shardSubject } from "@millrace/proto/channels";
import { connectBus, type NatsBus } from "@millrace/proto/nats-bus";
import { shardCount } from "@millrace/proto/tokens";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type OwnNatsServer, ownNatsServer } from "../../../test/services/nats.ts";
import { startNatsServer } from "../../cli/src/services/nats-server.ts";
import { startShards } from "./shards.ts";

/** The machine may be busy with other things. */
const patiently = { timeout: 30_000 };

interface RunningWriter {
  readonly name: string;
  readonly bus: NatsBus;
  readonly shards: Stoppable;
  /** Shards as it last told. */
  served: number;
}

let own: OwnNatsServer;
let asker: NatsBus;
let writers: RunningWriter[];

beforeEach(async () => {
  own = await ownNatsServer();
  asker = await connectBus({ servers: own.server.url, name: "asker", log: silentLog });
  writers = [];
});
afterEach(async () => {
  for (const writer of writers) {
    await writer.shards.stop();
    await writer.bus.close();
  }
  await asker.close();
  await own.server.stop();
  await own[Symbol.asyncDispose]();
});

async function startWriter(name: string, clock: Clock = systemClock): Promise<RunningWriter> {
  const bus = await connectBus({ servers: own.server.url, name, log: silentLog });
  const running: { served: number } = { served: 0 };
  const shards = startShards(
    {
      open: async () => ({ released: {} }),
      batch: async () => ({ rejected: { message: name } }),
    },
    {
      bus,
      clock,
      log: silentLog,
      writer: name,
      shards: (count) => {
        running.served = count;
      },
    },
  );
  const writer = Object.assign(running, { name, bus, shards });
  writers.push(writer);
  return writer;
}

/** Who answers on each shard. */
async function answerers(): Promise<string[]> {
  const shards = Array.from({ length: shardCount }, (_, shard) => shard);
  return Promise.all(
    shards.map(async (shard) => {
      const subject = shardSubject(batchChannel, shard);
      const reply = await asker.request(batchChannel, { subject, message: {}, timeoutMs: 2_000 });
      return reply.rejected?.message ?? "";
    }),
  );
}

test("one writer answers on every shard of both channels", async () => {
  await startWriter("a");
  expect(await answerers()).toEqual(Array(shardCount).fill("a"));
  const at = (channel: { name: string }) => ({
    subject: shardSubject(channel, 7),
    message: {},
    timeoutMs: 2_000,
  });
  expect(await asker.request(openChannel, at(openChannel))).toMatchObject({ released: {} });
});

test("writers share the shards, each answered by exactly one", async () => {
  for (const name of ["a", "b", "c"]) await startWriter(name);
  const isServed = (counts: number[]): boolean => counts.join() === writers.map((one) => one.served).join();
  await expect
    .poll(async () => {
      const answered = await answerers();
      const counts = writers.map((writer) => answered.filter((name) => name === writer.name).length);
      return { counts, sum: writers.reduce((sum, writer) => sum + writer.served, 0) };
    }, patiently)
    .toEqual({ counts: expect.toSatisfy(isServed), sum: shardCount });
  for (const writer of writers) expect(writer.served).toBeGreaterThan(0);
});

test("a writer that vanishes is replaced", async () => {
  const stopped = new ScriptedClock();
  const [a, b] = [await startWriter("a"), await startWriter("b", stopped)];
  await expect.poll(() => a.served, patiently).toBeLessThan(shardCount);
  writers = [a];
  await b.bus.close();
  await expect.poll(() => a.served, patiently).toBe(shardCount);
  expect(await answerers()).toEqual(Array(shardCount).fill("a"));
});

test("a writer that leaves says so, serves until the others have taken over, and no request is lost", async () => {
  const [a, b] = [await startWriter("a"), await startWriter("b")];
  await expect.poll(() => a.served + b.served, patiently).toBe(shardCount);
  let isLeaving = true;
  const leaving = b.shards.stop().then(() => {
    isLeaving = false;
  });
  while (isLeaving) expect(await answerers()).toHaveLength(shardCount);
  await leaving;
  expect(await answerers()).toEqual(Array(shardCount).fill("a"));
});

test("when NATS comes back the shards are shared again", async () => {
  const [a, b] = [await startWriter("a"), await startWriter("b")];
  await expect.poll(() => a.served + b.served, patiently).toBe(shardCount);
  await own.server.stop();
  await expect.poll(() => a.served + b.served, patiently).toBe(2 * shardCount);
  const { dataDir } = own;
  const back = await startNatsServer({ dataDir, port: own.server.port, onLine: () => {}, ephemeral: true });
  own = { ...own, server: back };
  await expect.poll(() => a.served + b.served, patiently).toBe(shardCount);
});
