import { credentials, makeGenericClientConstructor } from "@grpc/grpc-js";
import { ScriptedClock } from "@millrace/base/scripted-clock";
import { service as healthService } from "grpc-health-check";
import { afterEach, describe, expect, it } from "vitest";
import { endStatus } from "../thread-messages.ts";
import { build, request } from "./bes-messages.fixture.ts";
import { StreamClient } from "./clients.fixture.ts";
import { type DoorOptions, TestDoor, until } from "./door.fixture.ts";

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

const HealthClient = makeGenericClientConstructor(healthService, "health");

/** What the health service says of all services together. */
function health(port: number): Promise<string> {
  const client = new HealthClient(`127.0.0.1:${port}`, credentials.createInsecure());
  return new Promise((resolve, reject) => {
    client.check?.({ service: "" }, (error: Error | null, reply: { status: string }) => {
      client.close();
      if (error !== null) reject(error);
      else resolve(reply.status);
    });
  });
}

describe("a drain", () => {
  it("turns new streams away, acknowledges what is committed and ends open streams", async () => {
    await open({ drainDeadlineMs: 5_000 });
    expect(await health(door.port)).toBe("SERVING");
    const [busy, late] = [client(), client()];
    await late.headers;
    busy.send(...build(10).slice(0, 9));
    await until(() => busy.acks.length === 9);
    const stopped = door.stop();
    expect(door.door.isReady).toBe(false);
    expect(await busy.ended).toMatchObject({ code: endStatus.unavailable });
    expect(busy.acks).toHaveLength(9);
    expect(await health(door.port)).toBe("NOT_SERVING");
    const newcomer = client();
    expect(await newcomer.ended).toMatchObject({
      code: endStatus.unavailable,
      details: expect.stringMatching(/restarting/),
    });
    // It had nothing to be acknowledged, so it is ended last.
    expect(await late.ended).toMatchObject({ code: endStatus.unavailable });
    await stopped;
  });

  it("keeps an end back that would cost a client a retry, and sends those away one by one", async () => {
    const clock = new ScriptedClock();
    await open({ clock, drainDeadlineMs: 10_000 });
    door.thread.isHolding = true;
    const ended: number[] = [];
    const streams = Array.from({ length: 4 }, (_, at) => {
      const bazel = client();
      bazel.send(request({ sequence: 1, invocationId: `inv-${at}` }));
      void bazel.ended.then(() => ended.push(at));
      return bazel;
    });
    await until(() => door.thread.connections.size === 4);
    await until(() => [...door.thread.connections.values()].every((one) => one.events.length === 1));
    const stopped = door.stop();
    await until(() => [...door.thread.connections.values()].every((one) => one.isEnded));
    await clock.advance(7_999);
    expect(door.door.streams.size).toBe(4);
    await clock.advance(1);
    await until(() => ended.length === 1);
    await clock.advance(500);
    await until(() => ended.length === 2);
    await clock.advance(1_000);
    await until(() => ended.length === 4);
    for (const bazel of streams) expect((await bazel.ended).details).toBe("the model is restarting");
    await clock.advance(1_000);
    await stopped;
  });

  it("kills a thread that does not finish by the deadline", async () => {
    let isKilled = false;
    await open({
      drainDeadlineMs: 100,
      run: (_start, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            isKilled = true;
            reject(new Error("killed"));
          });
        }),
    });
    const bazel = client();
    bazel.send(request({ sequence: 1 }));
    await until(() => door.door.budget.inFlight > 0);
    await door.stop();
    expect(isKilled).toBe(true);
    expect((await bazel.ended).code).toBe(endStatus.unavailable);
    expect(door.door.budget.inFlight).toBe(0);
  });
});
