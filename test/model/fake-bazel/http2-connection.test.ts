import { once } from "node:events";
import net from "node:net";
import { afterEach, expect, test } from "vitest";
import { statusCode } from "./bes-channel.ts";
import { HeaderAssembly } from "./header-assembly.ts";
import { encodeHeaderBlock } from "./hpack.ts";
import { Http2Connection } from "./http2-connection.ts";
import {
  type Frame,
  FrameReader,
  frameFlag,
  frameType,
  headersFrames,
  preface,
  windowUpdate,
} from "./http2-frames.ts";

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

// 24 bytes of text precede a client's frames; a server's begin with its SETTINGS, here the same as the client's.
const magicBytes = 24;
const serverPreface = preface.subarray(magicBytes, magicBytes + 9 + 30);

/** A server that does nothing but what the test tells it, and keeps the frames it got. */
async function startBareServer() {
  const frames: Frame[] = [];
  let socket: net.Socket | undefined;
  const server = net.createServer((accepted) => {
    socket = accepted;
    const reader = new FrameReader();
    let toSkip = magicBytes;
    accepted.on("error", () => {});
    accepted.on("data", (chunk: Buffer) => {
      const skipped = Math.min(toSkip, chunk.length);
      toSkip -= skipped;
      reader.push(chunk.subarray(skipped), (frame) =>
        frames.push({ ...frame, payload: Buffer.from(frame.payload) }),
      );
    });
    accepted.write(serverPreface);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUps.push(() => {
    socket?.destroy();
    server.close();
  });
  const connection = new Http2Connection({
    host: "127.0.0.1",
    port: (server.address() as net.AddressInfo).port,
  });
  cleanUps.push(() => connection.close());
  return { frames, connection, send: (bytes: Uint8Array) => socket?.write(bytes) };
}

function contentBytes(frames: readonly Frame[]): number {
  return frames
    .filter((frame) => frame.type === frameType.data)
    .reduce((sum, frame) => sum + frame.payload.length, 0);
}

const settingsAcks = (frames: readonly Frame[]): number =>
  frames.filter((frame) => frame.type === frameType.settings && frame.flags === frameFlag.ack).length;

const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 30_000 });

const events = { onMessage: () => {}, onEnd: () => {} };

test("the connection's window is kept to, to the byte, over all its streams", async () => {
  const { frames, connection, send } = await startBareServer();
  for (let nth = 0; nth < 2; nth += 1)
    connection.open(encodeHeaderBlock([]), events).write(Buffer.alloc(60_000));
  await eventually(() => contentBytes(frames)).toBe(65_535);
  // An answer to SETTINGS shows that the client has read them and, after them, has nothing to send.
  const acksBefore = settingsAcks(frames);
  send(serverPreface);
  await eventually(() => settingsAcks(frames)).toBe(acksBefore + 1);
  expect(contentBytes(frames)).toBe(65_535);
  send(windowUpdate(0, 1_000));
  await eventually(() => contentBytes(frames)).toBe(66_535);
});

test("a stream that the server has ended before us is closed from our side", async () => {
  const { frames, connection, send } = await startBareServer();
  const ended = Promise.withResolvers<number>();
  connection.open(encodeHeaderBlock([]), { onMessage: () => {}, onEnd: ({ code }) => ended.resolve(code) });
  await eventually(() => frames.some((frame) => frame.type === frameType.headers)).toBe(true);
  const trailers = headersFrames(1, encodeHeaderBlock([["grpc-status", "8"]]));
  trailers[4] = frameFlag.endHeaders | frameFlag.endStream;
  send(trailers);
  expect(await ended.promise).toBe(statusCode.resourceExhausted);
  await eventually(() => frames.at(-1)).toMatchObject({ type: frameType.resetStream, streamId: 1 });
});

test("what breaks the protocol ends all calls as INTERNAL, with GOAWAY", async () => {
  const { frames, connection, send } = await startBareServer();
  const ended = Promise.withResolvers<number>();
  connection.open(encodeHeaderBlock([]), { onMessage: () => {}, onEnd: ({ code }) => ended.resolve(code) });
  await eventually(() => frames.some((frame) => frame.type === frameType.headers)).toBe(true);
  send(Buffer.alloc(9, 0xff));
  expect(await ended.promise).toBe(statusCode.internal);
  expect(connection.isOpen).toBe(false);
  await eventually(() => frames.at(-1)?.type).toBe(frameType.goAway);
});

test("a header block of several frames survives that their memory is used again", () => {
  const block = Buffer.from(Array.from({ length: 40_000 }, (_, index) => index & 0xff));
  const assembly = new HeaderAssembly();
  const reader = new FrameReader();
  const blocks: Buffer[] = [];
  reader.push(headersFrames(5, block), (frame) => {
    assembly.checkOrder(frame);
    const whole = assembly.push(frame);
    if (whole !== undefined) blocks.push(Buffer.from(whole.bytes));
    frame.payload.fill(0xee);
  });
  expect(blocks.length).toBe(1);
  expect(blocks[0]?.equals(block)).toBe(true);
});
