import { type PeekedRequest, peekRequest } from "@millrace/proto/bes/peek";
import { describe, expect, it } from "vitest";
import { eventKind, metaStride } from "../thread-messages.ts";
import { Arena, eventCount, largeEvent } from "./arena.ts";
import { eventOf, request } from "./bes-messages.fixture.ts";

function peeked(bytes: Uint8Array): PeekedRequest {
  const result = peekRequest(bytes);
  if (result.kind === "malformed") throw new Error(result.reason);
  return result;
}

describe("the arena", () => {
  it("packs the events of a tick back to back into a buffer that is exactly full", () => {
    const arena = new Arena();
    const sent = [
      request({ sequence: 1 }),
      request({ sequence: 2, payloadBytes: 0 }),
      request({ sequence: 3, isLast: true }),
    ];
    for (const [at, bytes] of sent.entries()) arena.add(at < 2 ? 7 : 8, peeked(bytes));
    const message = arena.pack();
    expect(Buffer.from(message.arena)).toEqual(Buffer.concat(sent.map(eventOf)));
    expect(eventCount(message)).toBe(3);
    const lengths = sent.map((bytes) => eventOf(bytes).length);
    expect([...message.meta]).toEqual([
      ...[7, 1, lengths[0], eventKind.bazel],
      ...[7, 2, lengths[1], eventKind.bazel],
      ...[8, 3, lengths[2], eventKind.streamFinished],
    ]);
    expect(message.meta).toHaveLength(3 * metaStride);
    expect([arena.isEmpty, arena.bytes]).toEqual([true, 0]);
  });

  it("can be transferred", () => {
    const arena = new Arena();
    arena.add(1, peeked(request({ sequence: 1 })));
    const message = arena.pack();
    const moved = structuredClone(message, { transfer: [message.arena, message.meta.buffer as ArrayBuffer] });
    expect(moved.arena.byteLength).toBeGreaterThan(0);
    expect(message.arena.byteLength).toBe(0);
  });
});

describe("a large event", () => {
  it("is given away with its buffer when that is its own", () => {
    const bytes = new Uint8Array(request({ sequence: 9, payloadBytes: 100_000 }));
    const message = largeEvent(3, peeked(bytes));
    expect(message).toMatchObject({ kind: "large", connection: 3, sequence: 9, event: eventKind.bazel });
    expect(message.bytes.buffer).toBe(bytes.buffer);
    expect(Buffer.from(message.bytes)).toEqual(eventOf(bytes));
  });

  it("is copied when it shares its buffer with others", () => {
    const whole = Buffer.concat([request({ sequence: 9, payloadBytes: 100_000 }), Buffer.alloc(64)]);
    const bytes = whole.subarray(0, whole.length - 64);
    const message = largeEvent(3, peeked(bytes));
    expect(message.bytes.buffer).not.toBe(whole.buffer);
    expect(message.bytes.buffer.byteLength).toBe(message.bytes.byteLength);
    expect(Buffer.from(message.bytes)).toEqual(eventOf(bytes));
  });
});
