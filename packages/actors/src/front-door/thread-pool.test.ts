import { silentLog } from "@millrace/base/log";
import { ScriptedClock } from "@millrace/base/scripted-clock";
import { afterEach, describe, expect, it } from "vitest";
import { endStatus } from "../thread-messages.ts";
import { build, request } from "./bes-messages.fixture.ts";
import { StreamClient } from "./clients.fixture.ts";
import { type DoorOptions, TestDoor, until } from "./door.fixture.ts";
import { piscinaThreads } from "./piscina-threads.ts";

let door: TestDoor;
const clients: StreamClient[] = [];

async function open(options: DoorOptions = {}): Promise<TestDoor> {
  door = await TestDoor.open(options);
  return door;
}

function client(): StreamClient {
  const made = new StreamClient(door.port);
  clients.push(made);
  return made;
}

afterEach(async () => {
  for (const one of clients.splice(0)) one.close();
  await door.stop();
});

describe("a thread that dies", () => {
  it("takes its own streams with it and no others, and their memory is free", async () => {
    await open({ threads: 2 });
    for (const thread of door.threads) thread.isHolding = true;
    const streams = Array.from({ length: 8 }, (_, at) => {
      const bazel = client();
      bazel.send(request({ sequence: 1, invocationId: `inv-${at}` }));
      return { bazel, invocationId: `inv-${at}` };
    });
    const [first, second] = door.threads;
    await until(() => (first?.connections.size ?? 0) + (second?.connections.size ?? 0) === 8);
    await until(() => door.pool.counters.events === 8);
    const isFirst = (invocationId: string): boolean =>
      [...(first?.connections.values() ?? [])].some((one) => one.start.invocationId === invocationId);
    door.pool.crash(0);
    for (const { bazel, invocationId } of streams) {
      if (!isFirst(invocationId)) continue;
      const ended = await bazel.ended;
      expect(ended).toMatchObject({ code: endStatus.unavailable, details: expect.stringMatching(/thread/) });
    }
    expect(door.door.streams.size).toBe(second?.connections.size);
    second?.commitAll();
    await until(() => door.door.budget.inFlight === 0);
    for (const { bazel, invocationId } of streams) {
      if (!isFirst(invocationId)) await until(() => bazel.acks.length === 1);
    }
  });

  it("is restarted; a stream that comes meanwhile waits for it with its first message", async () => {
    const clock = new ScriptedClock();
    await open({ clock });
    door.pool.crash(0);
    const bazel = client();
    bazel.send(...build(50));
    bazel.halfClose();
    await until(() => door.door.budget.inFlight > 0);
    expect(door.threads).toHaveLength(1);
    await clock.advance(100);
    expect(door.threads).toHaveLength(2);
    expect((await bazel.ended).code).toBe(0);
    expect(bazel.acks).toHaveLength(50);
    expect(door.pool.restarts).toBe(1);
    const stopped = door.stop();
    await clock.advance(1_000);
    await stopped;
  });

  it("at every start is restarted ever more slowly, and its streams are sent away after 15 s", async () => {
    const clock = new ScriptedClock();
    let starts = 0;
    await open({
      clock,
      run: () => {
        starts += 1;
        return Promise.reject(new Error("no such module"));
      },
    });
    await clock.advance(0);
    const bazel = client();
    bazel.send(request({ sequence: 1 }));
    await until(() => door.door.budget.inFlight > 0);
    await clock.advance(100 + 200 + 400 + 800);
    expect(starts).toBe(5);
    await clock.advance(60_000);
    expect(starts).toBeLessThan(15);
    expect((await bazel.ended).code).toBe(endStatus.unavailable);
    const stopped = door.stop();
    await clock.advance(20_000);
    await stopped;
  });
});

describe("threads of Piscina", () => {
  it("serve streams, die alone when killed, come back and drain", async () => {
    const file = new URL("./model-thread.fixture.ts", import.meta.url);
    const workers = piscinaThreads({ file, threads: 2, log: silentLog });
    await open({ threads: 2, run: workers.run, drainDeadlineMs: 10_000 });
    const run = async (invocationId: string): Promise<number> => {
      const bazel = client();
      bazel.send(...build(100, { invocationId }));
      bazel.halfClose();
      const { code } = await bazel.ended;
      if (code === 0) expect(bazel.acks).toHaveLength(100);
      return code;
    };
    const ids = Array.from({ length: 8 }, (_, at) => `inv-${at}`);
    expect(await Promise.all(ids.map(run))).toEqual(ids.map(() => 0));
    const open1 = client();
    open1.send(request({ sequence: 1, invocationId: "inv-0" }));
    await until(() => open1.acks.length === 1);
    door.pool.crash(0);
    door.pool.crash(1);
    expect((await open1.ended).code).toBe(endStatus.unavailable);
    expect(await Promise.all(ids.map(run))).toEqual(ids.map(() => 0));
    expect(door.pool.restarts).toBe(2);
    await door.stop();
    await workers.close();
  });
});
