import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { endStatus, eventKind } from "../thread-messages.ts";
import { build, eventOf, framed, request } from "./bes-messages.fixture.ts";
import { RawStream, StreamClient } from "./clients.fixture.ts";
import { type DoorOptions, TestDoor, until } from "./door.fixture.ts";

let door: TestDoor;
const clients: StreamClient[] = [];

async function open(options: DoorOptions = {}): Promise<TestDoor> {
  door = await TestDoor.open(options);
  return door;
}

function client(options?: ConstructorParameters<typeof StreamClient>[1]): StreamClient {
  const made = new StreamClient(door.port, options);
  clients.push(made);
  return made;
}

afterEach(async () => {
  for (const one of clients.splice(0)) one.close();
  await door.stop();
  expect(door.door.streams.size).toBe(0);
  expect(door.door.budget.inFlight).toBe(0);
});

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}

describe.each([
  ["over the HTTP/2 stream", { stream: true, trailers: true }],
  ["over the HTTP/2 stream, ended by the library", { stream: true, trailers: false }],
  ["through the library", false as const],
])("a stream %s", (_, reach) => {
  it("is acknowledged once per event in order and ends with OK behind the last", async () => {
    await open({ reach });
    const bazel = client();
    const sent = build(1_000);
    bazel.send(...sent);
    bazel.halfClose();
    expect((await bazel.ended).code).toBe(0);
    expect(bazel.acks).toEqual(numbers(1, 1_000));
    const { events, start } = door.thread.only;
    expect(start).toMatchObject({
      project: "default",
      invocationId: "inv-1",
      buildId: "build-1",
      firstSequence: 1,
      serverSecret: new Uint8Array(32).fill(7),
    });
    expect(events.map((event) => event.sequence)).toEqual(numbers(1, 1_000));
    expect(events.map((event) => Buffer.from(event.bytes))).toEqual(sent.map(eventOf));
    expect(events.map((event) => event.kind)).toEqual([
      ...numbers(1, 999).map(() => eventKind.bazel),
      eventKind.streamFinished,
    ]);
  });

  it("gets response headers before the first message", async () => {
    await open({ reach });
    const bazel = client();
    await bazel.headers;
    bazel.send(...build(1));
    bazel.halfClose();
    expect((await bazel.ended).code).toBe(0);
  });

  it("is acknowledged when the events commit long after the half-close", async () => {
    await open({ reach });
    door.thread.isHolding = true;
    const bazel = client();
    bazel.send(...build(20));
    bazel.halfClose();
    await until(() => door.thread.connections.size === 1 && door.thread.only.hasHalfClosed);
    expect(bazel.acks).toEqual([]);
    door.thread.commit(1, 7);
    await until(() => bazel.acks.length === 7);
    door.thread.commitAll();
    expect((await bazel.ended).code).toBe(0);
    expect(bazel.acks).toEqual(numbers(1, 20));
  });

  it("that continues at 41 is acknowledged from 41", async () => {
    await open({ reach });
    const bazel = client();
    bazel.send(request({ sequence: 41 }), request({ sequence: 42, isLast: true }));
    bazel.halfClose();
    expect((await bazel.ended).code).toBe(0);
    expect(bazel.acks).toEqual([41, 42]);
    expect(door.thread.only.start.firstSequence).toBe(41);
  });

  it("gets one more acknowledgement for an event that came twice", async () => {
    await open({ reach });
    const bazel = client();
    bazel.send(request({ sequence: 1 }), request({ sequence: 2 }));
    await until(() => bazel.acks.length === 2);
    door.thread.post({ kind: "ack-again", connection: 1, sequence: 1 });
    await until(() => bazel.acks.length === 3);
    expect(bazel.acks).toEqual([1, 2, 1]);
    door.thread.end(1, endStatus.ok, "");
    expect((await bazel.ended).code).toBe(0);
  });

  it.each([
    ["FAILED_PRECONDITION", endStatus.failedPrecondition],
    ["UNAVAILABLE", endStatus.unavailable],
    ["ABORTED", endStatus.aborted],
  ])(
    "ends with %s of its thread behind all acknowledgements, whatever still comes",
    async (_name, status) => {
      await open({ reach });
      door.thread.isHolding = true;
      const bazel = client();
      bazel.send(...build(50).slice(0, 49));
      await until(() => door.thread.connections.get(1)?.events.length === 49);
      door.thread.commit(1, 30);
      door.thread.end(1, status, "why: ü\ud800");
      const ended = await bazel.ended;
      expect(ended.code).toBe(status);
      expect(ended.details).toBe("why: ü\ufffd");
      expect(bazel.acks).toEqual(numbers(1, 30));
      door.thread.commitAll();
    },
  );

  it("passes unknown payloads and wrong type URLs on as they are", async () => {
    await open({ reach });
    const bazel = client();
    const sent = [request({ sequence: 1, typeUrl: "what/ever" }), request({ sequence: 2, isLast: true })];
    bazel.send(...sent);
    bazel.halfClose();
    expect((await bazel.ended).code).toBe(0);
    expect(door.thread.only.events.map((event) => Buffer.from(event.bytes))).toEqual(sent.map(eventOf));
  });

  it.each([
    ["sequence number 0", request({ sequence: 0 }), /sequence_number is 0; numbers start at 1/],
    ["a negative number", request({ sequence: -3 }), /sequence_number is -3/],
    ["no invocation id", request({ sequence: 1, invocationId: "" }), /invocation_id is missing/],
    [
      "a long invocation id",
      request({ sequence: 1, invocationId: "x".repeat(257) }),
      /257 bytes; at most 256/,
    ],
    ["a NUL in the id", request({ sequence: 1, invocationId: "a\0b" }), /U\+0000/],
    ["a very long build id", request({ sequence: 1, buildId: "x".repeat(2_000) }), /build_id has 2000 bytes/],
    ["garbage", Buffer.from("this is no protobuf message at all"), /message 1 .* is not a .* at byte \d+/],
    ["nothing at all", Buffer.alloc(0), /invocation_id is missing/],
  ])("with %s first is refused with INVALID_ARGUMENT", async (_name, bytes, message) => {
    await open({ reach });
    const [bazel, other] = [client(), client()];
    other.send(request({ sequence: 1, invocationId: "other" }));
    await until(() => other.acks.length === 1);
    bazel.send(bytes);
    const ended = await bazel.ended;
    expect(ended.code).toBe(endStatus.invalidArgument);
    expect(ended.details).toMatch(message);
    other.send(request({ sequence: 2, invocationId: "other", isLast: true }));
    other.halfClose();
    expect((await other.ended).code).toBe(0);
    expect(other.acks).toEqual([1, 2]);
  });

  it.each([
    ["another invocation", request({ sequence: 3, invocationId: "inv-2" }), /stream_id is not that/],
    ["another build id", request({ sequence: 3, buildId: "build-2" }), /stream_id is not that/],
    ["sequence number 0", request({ sequence: 0 }), /numbers start at 1/],
    ["garbage", Buffer.from([0xff, 0xff, 0xff]), /message 3 of this stream \(3 bytes\)/],
  ])("that turns to %s is refused, and keeps what it had", async (_name, bytes, message) => {
    await open({ reach });
    const bazel = client();
    bazel.send(request({ sequence: 1 }), request({ sequence: 2 }));
    await until(() => bazel.acks.length === 2);
    bazel.send(bytes);
    const ended = await bazel.ended;
    expect(ended.code).toBe(endStatus.invalidArgument);
    expect(ended.details).toMatch(message);
    await until(() => door.thread.only.isBroken);
    expect(door.thread.only.committed).toBe(2);
  });

  it("that sends nothing is left alone, and refused when it closes its side", async () => {
    await open({ reach });
    const bazel = client();
    await bazel.headers;
    expect(door.door.streams.size).toBe(1);
    bazel.halfClose();
    const ended = await bazel.ended;
    expect(ended.code).toBe(endStatus.invalidArgument);
    expect(ended.details).toMatch(/without sending an event/);
  });

  it("that is cancelled is reported as broken, once", async () => {
    await open({ reach });
    const bazel = client();
    bazel.send(request({ sequence: 1 }));
    await until(() => bazel.acks.length === 1);
    bazel.cancel();
    await until(() => door.thread.only.isBroken);
    expect(door.thread.messages.filter((kind) => kind === "broken")).toHaveLength(1);
    expect(door.door.streams.size).toBe(0);
  });

  it("whose connection is cut is reported as broken and keeps what it had", async () => {
    await open({ reach });
    door.thread.isHolding = true;
    const bazel = new RawStream(door.port);
    bazel.stream.write(framed(request({ sequence: 1 })));
    await until(() => door.thread.connections.size === 1 && door.thread.only.events.length === 1);
    bazel.cut();
    await until(() => door.thread.only.isBroken);
    expect(door.door.budget.inFlight).toBeGreaterThan(0);
    door.thread.commitAll();
    await until(() => door.door.budget.inFlight === 0);
  });

  it("takes messages of every size up to 1 MB and more, byte for byte", async () => {
    await open({ reach });
    const bazel = client();
    const sizes = [0, 1, 16_000, 65_536, 1_048_400, 1_048_760, 3_000_000];
    const sent = sizes.map((payloadBytes, at) => request({ sequence: at + 1, payloadBytes }));
    bazel.send(...sent, request({ sequence: sizes.length + 1, isLast: true }));
    bazel.halfClose();
    expect((await bazel.ended).code).toBe(0);
    expect(bazel.acks).toEqual(numbers(1, sizes.length + 1));
    const received = door.thread.only.events.slice(0, -1);
    received.forEach((event, at) => {
      expect(eventOf(sent[at] as Buffer).equals(event.bytes)).toBe(true);
    });
    expect(door.thread.messages.filter((kind) => kind === "large")).toHaveLength(2);
  });

  it("takes gzip", async () => {
    await open({ reach });
    const bazel = new RawStream(door.port, { headers: { "grpc-encoding": "gzip" } });
    const sent = [request({ sequence: 1, payloadBytes: 50_000 }), request({ sequence: 2, isLast: true })];
    bazel.stream.write(framed(gzipSync(sent[0] as Buffer), 1));
    bazel.stream.end(framed(sent[1] as Buffer, 0));
    await until(() => bazel.isClosed);
    expect(bazel.status).toBe(0);
    expect(bazel.acks).toEqual([1, 2]);
    expect(door.thread.only.events.map((event) => Buffer.from(event.bytes))).toEqual(sent.map(eventOf));
  });

  it("is refused for a key that nobody knows, and served for one that is known", async () => {
    await open({ reach });
    door.writers.keys.delete("");
    door.writers.keys.set("good", { project: "web", scopes: ["ingest"] });
    door.writers.keys.set("reader", { project: "web", scopes: ["read"] });
    const [none, wrong, reader, good] = [
      client(),
      client({ apiKey: "wrong" }),
      client({ apiKey: "reader" }),
      client({ apiKey: "good" }),
    ];
    expect(await none.ended).toMatchObject({ code: 9, details: expect.stringMatching(/needs an API key/) });
    expect(await wrong.ended).toMatchObject({ code: 9, details: expect.stringMatching(/unknown, expired/) });
    expect(await reader.ended).toMatchObject({ code: 9, details: expect.stringMatching(/lacks the scope/) });
    good.send(...build(3));
    good.halfClose();
    expect((await good.ended).code).toBe(0);
    expect(door.thread.only.start.project).toBe("web");
  });
});
