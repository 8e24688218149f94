import { once } from "node:events";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { type BesChannel, type CallStatus, statusCode } from "./bes-channel.ts";
import { GrpcUnframer, grpcPrefix } from "./grpc-frames.ts";
import { openHttp2Channel } from "./http2-channel.ts";

// Node's own server insists on the protocol: it ends a connection that oversteps a window or breaks a frame.

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

type OnStream = (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => void;

async function startServer(onStream: OnStream, settings: http2.Settings = {}) {
  const sessions: http2.ServerHttp2Session[] = [];
  const errors: unknown[] = [];
  const server = http2.createServer({ settings });
  server.on("session", (session) => {
    sessions.push(session);
    session.on("error", (error: unknown) => errors.push(error));
  });
  server.on("stream", (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => {
    stream.on("error", () => {});
    onStream(stream, headers);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUps.push(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, sessions, errors };
}

function open(address: string): BesChannel {
  const channel = openHttp2Channel(address);
  cleanUps.push(() => void channel.close());
  return channel;
}

function openStream(channel: BesChannel) {
  const messages: Buffer[] = [];
  let resolve = (_: CallStatus): void => {};
  const ended = new Promise<CallStatus>((done) => {
    resolve = done;
  });
  const events = { onMessage: (bytes: Uint8Array) => messages.push(Buffer.from(bytes)), onEnd: resolve };
  return { stream: channel.openStream({ path: "/s/m", headers: {}, events }), messages, ended };
}

const respond = (
  stream: http2.ServerHttp2Stream,
  trailers: http2.OutgoingHttpHeaders = { "grpc-status": "0" },
): void => {
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers(trailers));
};

/** Answers with every message it got, once our side has ended. */
const echo: OnStream = (stream) => {
  const unframer = new GrpcUnframer();
  const parts: Uint8Array[] = [];
  respond(stream);
  stream.on("data", (chunk: Buffer) => {
    for (const message of unframer.push(chunk)) parts.push(grpcPrefix(message.length), message);
  });
  stream.on("end", () => stream.end(Buffer.concat(parts)));
};

async function sendAll(channel: BesChannel, messages: readonly Buffer[]) {
  const { stream, messages: received, ended } = openStream(channel);
  for (const message of messages) if (!stream.write(message)) await stream.drained();
  stream.halfClose();
  return { status: await ended, received };
}

const patterned = (length: number): Buffer =>
  Buffer.from(Array.from({ length }, (_, index) => (index * 31) & 0xff));

test("whatever the windows, everything arrives, and back", async () => {
  const length = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 60_000 }));
  const lengths = fc.array(length, { maxLength: 12 });
  const window = fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 200, max: 1 << 20 }));
  await fc.assert(
    fc.asyncProperty(lengths, window, async (all, initialWindowSize) => {
      // A window of a few bytes is a frame each: keep the number of round trips sane.
      const sizes = all.map((size) => Math.min(size, initialWindowSize * 40));
      const server = await startServer(echo, { initialWindowSize });
      const messages = sizes.map(patterned);
      const { status, received } = await sendAll(open(server.address), messages);
      expect([status, server.errors]).toEqual([{ code: 0, message: "" }, []]);
      expect(received.map((message) => message.length)).toEqual(sizes);
      expect(Buffer.concat(received).equals(Buffer.concat(messages))).toBe(true);
    }),
    { numRuns: 40 },
  );
});

test("more than all windows and buffers hold arrives, while the server reads in fits", async () => {
  const server = await startServer((stream, headers) => {
    echo(stream, headers);
    stream.on("data", () => {
      stream.pause();
      setImmediate(() => stream.resume());
    });
  });
  const messages = Array.from({ length: 60 }, (_, index) => patterned(100_000 + index));
  const { status, received } = await sendAll(open(server.address), messages);
  expect(status.code).toBe(0);
  expect(received.length).toBe(messages.length);
  expect(Buffer.concat(received).equals(Buffer.concat(messages))).toBe(true);
});

test("a window that shrinks while data waits is kept to", async () => {
  const server = await startServer((stream, headers) => {
    echo(stream, headers);
    stream.session?.settings({ initialWindowSize: 1_000 });
  });
  const { status, received } = await sendAll(open(server.address), [patterned(300_000)]);
  expect([status.code, received[0]?.length, server.errors]).toEqual([0, 300_000, []]);
});

test("two calls share a connection; pings are answered", async () => {
  const server = await startServer(echo);
  const channel = open(server.address);
  const request = { path: "/s/m", message: patterned(10), headers: { "x-api-key": "k" }, deadlineMs: 10_000 };
  expect(await channel.call(request)).toEqual({ code: 0, message: "" });
  expect(await channel.call(request)).toEqual({ code: 0, message: "" });
  expect(server.sessions.length).toBe(1);
  const pong = await new Promise<Buffer>((resolve, reject) => {
    server.sessions[0]?.ping(Buffer.from("12345678"), (error, _, payload) =>
      error === null ? resolve(payload) : reject(error),
    );
  });
  expect(String(pong)).toBe("12345678");
});

test("headers arrive as they were given, longer than a frame too", async () => {
  let seen: http2.IncomingHttpHeaders = {};
  const server = await startServer((stream, headers) => {
    seen = headers;
    echo(stream, headers);
  });
  const long = "k".repeat(20_000);
  const headers = { "x-api-key": long };
  await open(server.address).call({ path: "/s/m", message: patterned(1), headers, deadlineMs: 10_000 });
  expect(seen).toMatchObject({
    ":method": "POST",
    ":path": "/s/m",
    ":authority": server.address,
    "content-type": "application/grpc",
    "grpc-timeout": "10000m",
    te: "trailers",
    "x-api-key": long,
  });
});

test("a status is read from trailers of several frames, its message decoded", async () => {
  const filler = Object.fromEntries(
    Array.from({ length: 3 }, (_, nth) => [`x-${nth}`, "\u00fe".repeat(6_000)]),
  );
  const trailers = { ...filler, "grpc-status": "9", "grpc-message": "caf%C3%A9 100%25" };
  const server = await startServer((stream) => {
    respond(stream, trailers);
    stream.end();
  });
  const { ended } = openStream(open(server.address));
  expect(await ended).toEqual({ code: 9, message: "café 100%" });
});

test("a status in the headers alone ends the call, and the server sees the stream closed", async () => {
  const closed = Promise.withResolvers<void>();
  const server = await startServer((stream) => {
    stream.on("close", () => closed.resolve());
    stream.respond({ ":status": 200, "grpc-status": "12" }, { endStream: true });
  });
  const { ended } = openStream(open(server.address));
  expect((await ended).code).toBe(statusCode.unimplemented);
  await closed.promise;
});

test("an end without a status is UNAVAILABLE", async () => {
  const server = await startServer((stream) => stream.respond({ ":status": 503 }, { endStream: true }));
  const { stream, ended } = openStream(open(server.address));
  stream.write(patterned(5));
  expect((await ended).code).toBe(statusCode.unavailable);
});

test.each([
  [http2.constants.NGHTTP2_CANCEL, statusCode.cancelled],
  [http2.constants.NGHTTP2_PROTOCOL_ERROR, statusCode.internal],
  [http2.constants.NGHTTP2_REFUSED_STREAM, statusCode.unavailable],
  [http2.constants.NGHTTP2_ENHANCE_YOUR_CALM, statusCode.unavailable],
])("a reset with code %d is status %d", async (reset, code) => {
  const server = await startServer((stream) => stream.close(reset));
  const { ended } = openStream(open(server.address));
  expect((await ended).code).toBe(code);
});

test("GOAWAY: what the server has not taken ends, what it has goes on, a new call has a new connection", async () => {
  const server = await startServer((stream, headers) => {
    echo(stream, headers);
    if (server.sessions.length === 1) stream.session?.goaway(0, stream.id);
  });
  const channel = open(server.address);
  const first = openStream(channel);
  first.stream.write(patterned(3));
  const second = openStream(channel);
  expect((await second.ended).code).toBe(statusCode.unavailable);
  const request = { path: "/s/m", message: patterned(10), headers: {}, deadlineMs: 10_000 };
  expect((await channel.call(request)).code).toBe(0);
  expect(server.sessions.length).toBe(2);
  first.stream.halfClose();
  expect((await first.ended).code).toBe(0);
});

test("a cut and a server that goes away are UNAVAILABLE; the next call connects again", async () => {
  const server = await startServer(echo);
  const channel = open(server.address);
  const request = { path: "/s/m", message: patterned(10), headers: {}, deadlineMs: 10_000 };
  await channel.call(request);
  const cut = openStream(channel);
  cut.stream.write(patterned(10));
  await cut.stream.flushed();
  channel.cut();
  expect((await cut.ended).code).toBe(statusCode.unavailable);
  await channel.call(request);
  const left = openStream(channel);
  server.sessions.at(-1)?.destroy();
  expect((await left.ended).code).toBe(statusCode.unavailable);
  expect((await channel.call(request)).code).toBe(0);
});

test("a call has a deadline", async () => {
  const server = await startServer(() => {});
  const request = { path: "/s/m", message: patterned(10), headers: {}, deadlineMs: 5 };
  expect((await open(server.address).call(request)).code).toBe(statusCode.deadlineExceeded);
});

test("a cancelled stream says nothing more, and the server sees it cancelled", async () => {
  const reset = Promise.withResolvers<number>();
  const server = await startServer((stream) => stream.on("close", () => reset.resolve(stream.rstCode)));
  const { stream, ended } = openStream(open(server.address));
  stream.write(patterned(10));
  await stream.flushed();
  stream.cancel();
  expect(await reset.promise).toBe(http2.constants.NGHTTP2_CANCEL);
  expect(await Promise.race([ended, Promise.resolve("nothing")])).toBe("nothing");
});
