import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { credentials, Client as GrpcClient } from "@grpc/grpc-js";
import { ScriptedClock } from "@millrace/base/scripted-clock";
import { afterEach, describe, expect, it } from "vitest";
import { endStatus } from "../thread-messages.ts";
import { build, framed, request } from "./bes-messages.fixture.ts";
import { besServiceName } from "./bes-service.ts";
import { RawStream, StreamClient } from "./clients.fixture.ts";
import { type DoorOptions, TestDoor, until } from "./door.fixture.ts";

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

describe("a client that", () => {
  it("pings all the time is never told to calm down", async () => {
    await open();
    const bazel = raw();
    let goAway = false;
    bazel.session.on("goaway", () => {
      goAway = true;
    });
    bazel.stream.write(framed(request({ sequence: 1 })));
    await until(() => bazel.acks.length === 1);
    for (let at = 0; at < 300; at += 1) {
      await new Promise<void>((resolve, reject) => {
        bazel.session.ping((error) => (error === null ? resolve() : reject(error)));
      });
    }
    bazel.stream.end(framed(request({ sequence: 2, isLast: true })));
    await until(() => bazel.isClosed);
    expect([bazel.status, bazel.acks, goAway]).toEqual([0, [1, 2], false]);
  });

  it("closes its side in the middle of a message is told so", async () => {
    await open();
    const bazel = raw();
    bazel.stream.write(framed(request({ sequence: 1 })));
    await until(() => bazel.acks.length === 1);
    bazel.stream.end(framed(request({ sequence: 2 })).subarray(0, 20));
    await until(() => bazel.status !== undefined);
    expect([bazel.status, bazel.message]).toEqual([3, expect.stringMatching(/middle of a message/)]);
    expect(bazel.acks).toEqual([1]);
  });

  it("sends its messages in pieces of one byte is understood", async () => {
    await open();
    const bazel = raw();
    for (const byte of Buffer.concat(build(3).map((message) => framed(message)))) {
      if (!bazel.stream.write(Buffer.from([byte]))) await once(bazel.stream, "drain");
    }
    bazel.stream.end();
    await until(() => bazel.isClosed);
    expect([bazel.status, bazel.acks]).toEqual([0, [1, 2, 3]]);
  });

  it.each([
    ["does not speak gRPC", Buffer.from("GET / HTTP/1.1\r\n\r\n"), 3, /begins with byte 71/],
    ["says gzip and sends none", framed(Buffer.from("no gzip"), 1), 3, /cannot be expanded/],
    ["sends a bomb", framed(gzipSync(Buffer.alloc(20_000_000)), 1), 3, /may grow 64-fold/],
  ])("%s is refused", async (_name, bytes, status, message) => {
    await open();
    const bazel = raw({ headers: { "grpc-encoding": "gzip" } });
    bazel.stream.write(bytes);
    await until(() => bazel.status !== undefined);
    expect([bazel.status, bazel.message]).toEqual([status, expect.stringMatching(message)]);
  });

  it("goes on sending after the end is not listened to", async () => {
    await open();
    const bazel = raw();
    bazel.stream.write(framed(request({ sequence: 1 })));
    await until(() => bazel.acks.length === 1);
    door.thread.end(1, endStatus.failedPrecondition, "a hole");
    for (let sequence = 2; sequence < 200; sequence += 1) {
      bazel.stream.write(framed(request({ sequence, payloadBytes: 5_000 })));
    }
    await until(() => bazel.status !== undefined);
    expect([bazel.status, bazel.acks]).toEqual([9, [1]]);
    expect(door.door.streams.size).toBe(0);
  });

  it("calls a method that does not exist is told so", async () => {
    await open();
    const other = new GrpcClient(`127.0.0.1:${door.port}`, credentials.createInsecure());
    const same = (bytes: Buffer): Buffer => bytes;
    const code = await new Promise((resolve) => {
      other.makeUnaryRequest(`/${besServiceName}/Nothing`, same, same, Buffer.alloc(0), (error) => {
        resolve(error?.code);
      });
    });
    other.close();
    expect(code).toBe(12);
  });

  it("asks by reflection finds the service", async () => {
    await open();
    const other = new GrpcClient(`127.0.0.1:${door.port}`, credentials.createInsecure());
    const same = (bytes: Buffer): Buffer => bytes;
    const call = other.makeBidiStreamRequest(
      "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
      same,
      same,
    );
    call.on("error", () => {});
    // ServerReflectionRequest { list_services: "" }
    call.write(Buffer.from([0x3a, 0x00]));
    const [answer] = (await once(call, "data")) as [Buffer];
    expect(answer.includes(besServiceName)).toBe(true);
    call.end();
    other.close();
  });
});

describe("while nobody can check a key, a stream", () => {
  it("is held, and served when somebody can", async () => {
    const clock = new ScriptedClock();
    await open({ clock });
    door.writers.isAway = true;
    const bazel = client();
    bazel.send(...build(20));
    bazel.halfClose();
    await bazel.headers;
    await clock.advance(300_000);
    expect([door.door.streams.size, door.thread.connections.size]).toEqual([1, 0]);
    door.writers.isAway = false;
    await clock.advance(5_000);
    expect((await bazel.ended).code).toBe(0);
    expect(bazel.acks).toHaveLength(20);
    const stopped = door.stop();
    await clock.advance(1_000);
    await stopped;
  });

  it("is ended with UNAVAILABLE after the hold", async () => {
    const clock = new ScriptedClock();
    await open({ clock, outageHoldMaxMs: 60_000 });
    door.writers.isAway = true;
    const bazel = client();
    await bazel.headers;
    await clock.advance(60_000);
    expect(await bazel.ended).toMatchObject({ code: 14, details: expect.stringMatching(/for 60 s/) });
    const stopped = door.stop();
    await clock.advance(1_000);
    await stopped;
  });

  it("that goes away is forgotten", async () => {
    const clock = new ScriptedClock();
    await open({ clock });
    door.writers.isAway = true;
    const bazel = client();
    await bazel.headers;
    bazel.cancel();
    await until(() => door.door.streams.size === 0);
    door.writers.isAway = false;
    await clock.advance(10_000);
    expect(door.thread.connections.size).toBe(0);
    const stopped = door.stop();
    await clock.advance(1_000);
    await stopped;
  });
});
