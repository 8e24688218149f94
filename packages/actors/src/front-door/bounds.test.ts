import { once } from "node:events";
import { ScriptedClock } from "@millrace/base/scripted-clock";
import { afterEach, describe, expect, it } from "vitest";
import { endStatus } from "../thread-messages.ts";
import { build, framed, framedRequest, request } from "./bes-messages.fixture.ts";
import { besService } from "./bes-service.ts";
import { RawStream, StreamClient } from "./clients.fixture.ts";
import { type DoorOptions, TestDoor, until } from "./door.fixture.ts";

/** For those that move much. */
const slow = { timeout: 180_000 };

const KiB = 1024;
const MiB = 1024 * KiB;

let door: TestDoor;
const cleanUp: (() => void)[] = [];

async function open(options: DoorOptions = {}): Promise<TestDoor> {
  door = await TestDoor.open(options);
  return door;
}

function client(): StreamClient {
  const made = new StreamClient(door.port);
  cleanUp.push(() => made.close());
  return made;
}

function raw(options?: ConstructorParameters<typeof RawStream>[1]): RawStream {
  const made = new RawStream(door.port, options);
  cleanUp.push(() => made.cut());
  return made;
}

afterEach(async () => {
  for (const action of cleanUp.splice(0)) action();
  await door.stop();
  expect(door.door.budget.inFlight).toBe(0);
});

/** Lets everything that is under way arrive: nothing changes over many turns of the event loop. */
async function quiet(read: () => number): Promise<void> {
  let last = read();
  for (let still = 0; still < 20; ) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    const now = read();
    still = now === last ? still + 1 : 0;
    last = now;
  }
}

describe("memory", () => {
  it("of a stream whose events are not committed stays within its bound, and all goes on afterwards", async () => {
    await open({ budget: { streamBytesMax: 256 * KiB } });
    door.thread.isHolding = true;
    const bazel = client();
    const sent = build(2_000, { payloadBytes: 1_000 });
    bazel.send(...sent);
    bazel.halfClose();
    await until(() => door.door.budget.inFlight > 200 * KiB);
    await quiet(() => door.thread.only.events.length);
    expect(door.door.budget.inFlight).toBeLessThanOrEqual(256 * KiB);
    expect(door.thread.only.events.length).toBeLessThan(300);
    expect(door.thread.only.hasHalfClosed).toBe(false);
    door.thread.isHolding = false;
    door.thread.commitAll();
    expect((await bazel.ended).code).toBe(0);
    expect(bazel.acks).toHaveLength(2_000);
  });

  it("through the library is bounded as well, more coarsely", async () => {
    await open({ reach: false, budget: { streamBytesMax: 256 * KiB } });
    door.thread.isHolding = true;
    const bazel = client();
    bazel.send(...build(2_000, { payloadBytes: 1_000 }));
    bazel.halfClose();
    await until(() => door.door.budget.inFlight > 200 * KiB);
    await quiet(() => door.thread.only.events.length);
    expect(door.door.budget.inFlight).toBeLessThanOrEqual(256 * KiB);
    door.thread.isHolding = false;
    door.thread.commitAll();
    expect((await bazel.ended).code).toBe(0);
    expect(bazel.acks).toHaveLength(2_000);
  });

  it("of a project is bounded over its streams, and another project goes on", async () => {
    await open({ budget: { streamBytesMax: 256 * KiB, projectBytesMax: 512 * KiB } });
    door.writers.keys.set("web", { project: "web", scopes: ["ingest"] });
    door.thread.isHolding = true;
    const many = Array.from({ length: 4 }, (_, at) => {
      const bazel = client();
      bazel.send(...build(500, { payloadBytes: 1_000, invocationId: `inv-${at}` }));
      bazel.halfClose();
      return bazel;
    });
    await until(() => door.door.budget.waitingStreams >= 2);
    await quiet(() => door.door.budget.inFlight);
    expect(door.door.budget.inFlight).toBeLessThanOrEqual(512 * KiB);
    door.thread.isHolding = false;
    const other = new StreamClient(door.port, { apiKey: "web" });
    other.send(...build(5));
    other.halfClose();
    expect((await other.ended).code).toBe(0);
    door.thread.commitAll();
    for (const bazel of many) expect((await bazel.ended).code).toBe(0);
  });

  it("of a stream that is not read does not stop other calls on its connection", async () => {
    await open({ budget: { streamBytesMax: 64 * KiB } });
    door.thread.isHolding = true;
    const bazel = raw();
    for (const message of build(500, { payloadBytes: 1_000 })) bazel.stream.write(framed(message));
    bazel.stream.end();
    await until(() => door.door.budget.inFlight > 60 * KiB);
    const lifecycle = bazel.session.request({
      ":method": "POST",
      ":path": besService.PublishLifecycleEvent.path,
      "content-type": "application/grpc",
      te: "trailers",
    });
    lifecycle.end(framed(Buffer.alloc(0)));
    lifecycle.resume();
    const [trailers] = (await once(lifecycle, "trailers")) as [Record<string, string>];
    expect(trailers["grpc-status"]).toBe("0");
    expect(door.writers.lifecycle).toHaveLength(1);
    door.thread.isHolding = false;
    door.thread.commitAll();
    await until(() => bazel.isClosed);
    expect([bazel.status, bazel.acks.length]).toEqual([0, 500]);
  });

  it(
    "of a client that reads no acknowledgements is bounded, and it gets them all when it reads",
    slow,
    async () => {
      await open();
      door.thread.keepsBytes = false;
      const bazel = raw({ reads: false });
      const count = 40_000;
      const sent = build(count, { payloadBytes: 1 });
      let at = 0;
      const pump = (): void => {
        while (at < count && bazel.stream.write(framed(sent[at] as Buffer))) at += 1;
        at += 1;
        if (at < count) bazel.stream.once("drain", pump);
        else bazel.stream.end();
      };
      pump();
      await until(() => door.thread.connections.size === 1 && door.thread.only.events.length > 10_000);
      await quiet(() => door.thread.only.events.length);
      const unread = door.thread.only.events.length;
      expect(unread).toBeLessThan(count);
      bazel.stream.on("data", (chunk: Buffer) => bazel.chunks.push(chunk));
      await until(() => bazel.isClosed);
      expect(bazel.status).toBe(0);
      expect(bazel.acks).toEqual(Array.from({ length: count }, (_, index) => index + 1));
    },
  );

  it("past the process's bound costs the newest large stream its call", async () => {
    await open({
      budget: { streamBytesMax: 4 * MiB, projectBytesMax: 64 * MiB, processBytesMax: 10 * MiB },
    });
    door.thread.isHolding = true;
    const streams = Array.from({ length: 3 }, () => client());
    for (const [at, bazel] of streams.entries()) {
      bazel.send(...build(60, { payloadBytes: 100 * KiB, invocationId: `inv-${at}` }));
      await until(() => door.thread.connections.size === at + 1);
    }
    const ended = await (streams[2] as StreamClient).ended;
    expect(ended).toMatchObject({
      code: endStatus.resourceExhausted,
      details: expect.stringMatching(/memory/),
    });
    door.thread.isHolding = false;
    door.thread.commitAll();
    for (const bazel of streams.slice(0, 2)) {
      bazel.halfClose();
      expect((await bazel.ended).code).toBe(0);
      expect(bazel.acks).toHaveLength(60);
    }
  });
});

describe("large events", () => {
  it("of 97 MB arrive whole", slow, async () => {
    await open();
    const bazel = raw();
    bazel.stream.write(framedRequest({ sequence: 1, payloadBytes: 97_000_000 }));
    bazel.stream.end(framed(request({ sequence: 2, isLast: true })));
    await until(() => bazel.isClosed);
    expect([bazel.status, bazel.acks]).toEqual([0, [1, 2]]);
    const [event] = door.thread.only.events;
    const bytes = Buffer.from(event?.bytes ?? []);
    expect(bytes.subarray(-97_000_000).equals(Buffer.alloc(97_000_000, 1))).toBe(true);
  });

  it("above 100 MB are refused by their declared length, with what was committed acknowledged", async () => {
    await open();
    const bazel = raw();
    bazel.stream.write(framed(request({ sequence: 1 })));
    await until(() => bazel.acks.length === 1);
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(101 * MiB, 1);
    bazel.stream.write(prefix);
    await until(() => bazel.status !== undefined);
    expect(bazel.status).toBe(endStatus.resourceExhausted);
    expect(bazel.message).toMatch(/105906176 bytes is larger .*MILLRACE_MESSAGE_BYTES_MAX/);
    expect(bazel.acks).toEqual([1]);
  });

  it("are received a few at a time, and other streams go on meanwhile", async () => {
    await open({ budget: { largeBytesMax: 8 * MiB } });
    door.thread.isHolding = true;
    const streams = Array.from({ length: 6 }, (_, at) => {
      const bazel = client();
      const parts = { invocationId: `large-${at}` };
      bazel.send(request({ ...parts, sequence: 1, payloadBytes: 3 * MiB }));
      bazel.send(request({ ...parts, sequence: 2, isLast: true }));
      bazel.halfClose();
      return bazel;
    });
    await until(() => door.thread.connections.size === 2);
    await until(() => door.door.budget.waitingStreams === 4);
    expect(door.door.budget.largeInFlight).toBeLessThanOrEqual(8 * MiB);
    door.thread.isHolding = false;
    const small = client();
    small.send(...build(10, { invocationId: "small" }));
    small.halfClose();
    expect((await small.ended).code).toBe(0);
    door.thread.commitAll();
    for (const bazel of streams) expect((await bazel.ended).code).toBe(0);
  });

  it("that stop in their middle do not keep their memory for ever when others wait for it", async () => {
    const clock = new ScriptedClock();
    await open({ clock, budget: { largeBytesMax: 8 * MiB }, drainDeadlineMs: 100 });
    const stalled = raw();
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(6 * MiB, 1);
    stalled.stream.write(Buffer.concat([prefix, Buffer.alloc(1_000)]));
    await until(() => door.door.budget.largeInFlight > 0);
    await clock.advance(60_000);
    expect(door.door.streams.size).toBe(1);
    const bazel = client();
    bazel.send(request({ sequence: 1, payloadBytes: 3 * MiB }), request({ sequence: 2, isLast: true }));
    bazel.halfClose();
    await until(() => door.door.budget.waitingStreams === 1);
    await clock.advance(20_000);
    expect(stalled.status).toBeUndefined();
    await clock.advance(20_000);
    await until(() => stalled.status !== undefined);
    expect([stalled.status, stalled.message]).toEqual([14, expect.stringMatching(/stopped arriving/)]);
    expect((await bazel.ended).code).toBe(0);
    const stopping = door.stop();
    await clock.advance(5_000);
    await stopping;
  });
});

describe("many streams", () => {
  it("on connections of their own are served at the same time", slow, async () => {
    await open({ threads: 2 });
    const count = 1_000;
    const streams = Array.from({ length: count }, (_, at) => {
      const bazel = raw();
      bazel.stream.write(framed(request({ sequence: 1, invocationId: `inv-${at}` })));
      return bazel;
    });
    await until(() => streams.every((bazel) => bazel.acks.length === 1));
    expect(door.door.streams.size).toBe(count);
    expect(door.threads.every((thread) => thread.connections.size > 100)).toBe(true);
    for (const [at, bazel] of streams.entries()) {
      bazel.stream.end(framed(request({ sequence: 2, invocationId: `inv-${at}`, isLast: true })));
    }
    await until(() => streams.every((bazel) => bazel.isClosed));
    for (const bazel of streams) expect([bazel.status, bazel.acks]).toEqual([0, [1, 2]]);
  });
});
