import fc from "fast-check";
import { expect, test } from "vitest";
import { GrpcUnframer, grpcPrefix } from "./grpc-frames.ts";
import {
  type Frame,
  FrameReader,
  headersFrames,
  pingAck,
  resetStream,
  windowUpdate,
} from "./http2-frames.ts";
import { MessageQueue } from "./message-queue.ts";

const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 60 });

/** The bytes in pieces of those lengths, each in memory that is used again for the next, as a socket's is. */
function* inPieces(bytes: Buffer, lengths: readonly number[]): Generator<Buffer> {
  const memory = Buffer.alloc(bytes.length);
  let at = 0;
  for (const length of [...lengths, bytes.length]) {
    const piece = bytes.subarray(at, at + length);
    memory.fill(0xee);
    piece.copy(memory);
    yield memory.subarray(0, piece.length);
    at += piece.length;
  }
}

const frame = fc.oneof(
  fc.uint8Array({ minLength: 8, maxLength: 8 }).map(pingAck),
  fc
    .tuple(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 0, max: 14 }))
    .map(([id, code]) => resetStream(id, code)),
  fc.integer({ min: 1, max: 2 ** 31 - 1 }).map((bytes) => windowUpdate(0, bytes)),
  fc.uint8Array({ minLength: 1, maxLength: 80 }).map((block) => headersFrames(3, block)),
);

function framesOf(pieces: Iterable<Buffer>): Frame[] {
  const reader = new FrameReader();
  const frames: Frame[] = [];
  for (const piece of pieces) {
    reader.push(piece, (one) => frames.push({ ...one, payload: Buffer.from(one.payload) }));
  }
  return frames;
}

test("frames are the same however their bytes arrive", () => {
  fc.assert(
    fc.property(fc.array(frame, { minLength: 1, maxLength: 12 }), cuts, (frames, lengths) => {
      const bytes = Buffer.concat(frames);
      const whole = framesOf([bytes]);
      expect(whole.length).toBe(frames.length);
      expect(framesOf(inPieces(bytes, lengths))).toEqual(whole);
    }),
  );
});

const messages = fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 30 });

test("messages are the same however their bytes arrive", () => {
  fc.assert(
    fc.property(messages, cuts, (all, lengths) => {
      const bytes = Buffer.concat(all.flatMap((message) => [grpcPrefix(message.length), message]));
      const unframer = new GrpcUnframer();
      const received: Buffer[] = [];
      for (const piece of inPieces(bytes, lengths))
        received.push(...unframer.push(piece).map((one) => Buffer.from(one)));
      expect(received).toEqual(all.map((message) => Buffer.from(message)));
    }),
  );
});

test("messages leave as their bytes, however many are taken at once and whatever joins meanwhile", () => {
  fc.assert(
    fc.property(messages, cuts, (all, counts) => {
      const queue = new MessageQueue();
      const waiting = [...all];
      const taken: Buffer[] = [];
      const take = (most: number): void => {
        const count = Math.min(most, queue.bytes);
        const into = Buffer.alloc(count + 3, 0xee);
        queue.take(into, { at: 2, count });
        expect([into[0], into[1], into[count + 2]]).toEqual([0xee, 0xee, 0xee]);
        taken.push(into.subarray(2, count + 2));
      };
      for (const count of counts) {
        const next = waiting.shift();
        if (next !== undefined) queue.push(next);
        take(count);
      }
      for (const rest of waiting) queue.push(rest);
      take(Number.POSITIVE_INFINITY);
      expect(queue.bytes).toBe(0);
      expect(Buffer.concat(taken)).toEqual(
        Buffer.concat(all.flatMap((message) => [grpcPrefix(message.length), message])),
      );
    }),
  );
});

test("a queue that never runs empty lets go of what it has sent", () => {
  const queue = new MessageQueue();
  const into = Buffer.alloc(64);
  queue.push(Buffer.of(0));
  for (let nth = 1; nth <= 10_000; nth += 1) {
    queue.push(Buffer.of(nth & 0xff));
    queue.take(into, { at: 0, count: 6 });
    expect(into[5]).toBe((nth - 1) & 0xff);
  }
  expect(queue.bytes).toBe(6);
});
