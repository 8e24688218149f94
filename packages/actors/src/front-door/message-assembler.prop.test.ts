import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { largeEventBytes } from "../thread-messages.ts";
import { type FramingFault, MessageAssembler } from "./message-assembler.ts";

function framed(message: Uint8Array, flag = 0): Buffer {
  const out = Buffer.alloc(5 + message.length);
  out[0] = flag;
  out.writeUInt32BE(message.length, 1);
  out.set(message, 5);
  return out;
}

function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let from = 0;
  for (const length of at) {
    if (from >= bytes.length) break;
    // A copy, so that a message that wrongly reads beyond its chunk is noticed.
    chunks.push(Buffer.from(bytes.subarray(from, from + length)));
    from += length;
  }
  if (from < bytes.length) chunks.push(Buffer.from(bytes.subarray(from)));
  return chunks;
}

class Sink {
  readonly messages: Buffer[] = [];
  readonly flags: boolean[] = [];
  readonly faults: FramingFault[] = [];
  readonly asked: number[] = [];
  admits: () => boolean = () => true;
  onMessage: () => void = () => {};

  admit(bytes: number): boolean {
    this.asked.push(bytes);
    return this.admits();
  }

  message(bytes: Buffer, isCompressed: boolean): void {
    this.messages.push(Buffer.from(bytes));
    this.flags.push(isCompressed);
    this.onMessage();
  }

  fault(fault: FramingFault): void {
    this.faults.push(fault);
  }
}

const limits = { messageBytesMax: 1_000 };

describe("the assembler", () => {
  it("gives the same messages however they are cut, refused and paused", () => {
    let refused = 0;
    const messages = fc.array(fc.oneof(fc.uint8Array({ maxLength: 12 }), fc.uint8Array({ maxLength: 400 })), {
      maxLength: 12,
    });
    const cuts = fc.array(fc.oneof(fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: 500 })));
    fc.assert(
      fc.property(messages, cuts, fc.infiniteStream(fc.boolean()), (sent, at, coins) => {
        const sink = new Sink();
        const assembler = new MessageAssembler(sink, limits);
        const toss = (): boolean => coins.next().value as boolean;
        sink.admits = toss;
        sink.onMessage = () => {
          if (toss()) assembler.pause();
        };
        for (const chunk of cut(Buffer.concat(sent.map((message) => framed(message))), at)) {
          assembler.push(chunk);
          while (assembler.isPaused) {
            refused += 1;
            assembler.resume();
          }
        }
        expect(sink.messages).toEqual(sent.map((message) => Buffer.from(message)));
        expect(assembler.isEmpty).toBe(true);
        expect(sink.faults).toEqual([]);
      }),
      { numRuns: 400 },
    );
    expect(refused).toBeGreaterThan(100);
  });

  it("asks before it takes the bytes of a message, and does not go on while refused", () => {
    const sink = new Sink();
    sink.admits = () => false;
    const assembler = new MessageAssembler(sink, limits);
    assembler.push(framed(new Uint8Array(900)).subarray(0, 5));
    expect(sink.asked).toEqual([900]);
    expect(assembler.isPaused).toBe(true);
    assembler.push(Buffer.alloc(900));
    expect(sink.messages).toEqual([]);
    sink.admits = () => true;
    assembler.resume();
    expect(sink.messages).toHaveLength(1);
  });

  it("gives a large message in a buffer of its own", () => {
    const messages: Buffer[] = [];
    const assembler = new MessageAssembler(
      { admit: () => true, message: (bytes) => void messages.push(bytes), fault: () => {} },
      { messageBytesMax: 2 * largeEventBytes },
    );
    assembler.push(framed(new Uint8Array(largeEventBytes + 1)));
    expect(messages[0]?.buffer.byteLength).toBe(largeEventBytes + 1);
    expect(assembler.partialBytes).toBe(0);
  });

  it("knows when it holds the beginning of a message", () => {
    const assembler = new MessageAssembler(new Sink(), limits);
    const bytes = framed(new Uint8Array(10));
    assembler.push(bytes.subarray(0, 3));
    expect([assembler.isEmpty, assembler.needsMore]).toEqual([false, true]);
    assembler.push(bytes.subarray(3, 12));
    expect([assembler.isEmpty, assembler.needsMore, assembler.partialBytes]).toEqual([false, true, 7]);
    assembler.push(bytes.subarray(12));
    expect(assembler.isEmpty).toBe(true);
  });

  it("refuses a message that declares too much before it asks for memory", () => {
    const sink = new Sink();
    const assembler = new MessageAssembler(sink, limits);
    assembler.push(framed(new Uint8Array(1)));
    assembler.push(framed(new Uint8Array(1_001)).subarray(0, 20));
    expect(sink.faults).toEqual([{ kind: "too-large", bytes: 1_001 }]);
    expect(sink.asked).toEqual([1]);
    assembler.push(framed(new Uint8Array(1)));
    expect(sink.messages).toHaveLength(1);
  });

  it("says so when the stream is no gRPC at all", () => {
    const sink = new Sink();
    new MessageAssembler(sink, limits).push(Buffer.from("GET / HTTP/1.1\r\n"));
    expect(sink.faults).toEqual([{ kind: "bad-prefix", flag: 71 }]);
  });

  it("passes the compressed flag on", () => {
    const sink = new Sink();
    new MessageAssembler(sink, limits).push(framed(new Uint8Array(3), 1));
    expect(sink.flags).toEqual([true]);
  });

  it("gives nothing after it was stopped in the middle of a chunk", () => {
    const sink = new Sink();
    const assembler = new MessageAssembler(sink, limits);
    sink.onMessage = () => assembler.stop();
    assembler.push(Buffer.concat([framed(new Uint8Array(3)), framed(new Uint8Array(4))]));
    assembler.resume();
    expect(sink.messages).toHaveLength(1);
  });
});
