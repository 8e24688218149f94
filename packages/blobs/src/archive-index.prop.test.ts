import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type ArchiveFrame,
  type ArchiveStart,
  decodeArchiveIndex,
  encodeArchiveIndex,
} from "./archive-index.ts";

const count = fc.integer({ min: 1, max: 2 ** 40 });
const given = fc.record({
  kind: fc.constantFrom("events" as const, "log" as const),
  size: count,
  rawBytes: count,
  gap: fc.nat(1000),
  count: fc.integer({ min: 1, max: 2 ** 30 }),
  lineCount: fc.nat(2 ** 30),
});
type Given = typeof given extends fc.Arbitrary<infer T> ? T : never;
const start = fc.record({ firstSeq: count, firstByte: fc.nat(2 ** 31 - 1), firstLine: fc.nat(2 ** 30) });

/** Frames as a packer makes them, one behind the other. */
function frames(of: readonly Given[], from: ArchiveStart): ArchiveFrame[] {
  let [at, sequence, byte, line] = [0, from.firstSeq, from.firstByte, from.firstLine];
  return of.map((one): ArchiveFrame => {
    const base = { kind: one.kind, at, size: one.size, rawBytes: one.rawBytes };
    at += one.size;
    if (one.kind === "events") {
      const first = sequence + one.gap;
      sequence = first + one.count;
      return { ...base, first, count: one.count, firstLine: 0, lineCount: 0 };
    }
    const log = { ...base, first: byte, count: one.rawBytes, firstLine: line, lineCount: one.lineCount };
    byte += one.rawBytes;
    line += one.lineCount;
    return log;
  });
}

test("an index comes back as it was, whatever is in it", () => {
  fc.assert(
    fc.property(fc.array(given, { maxLength: 30 }), start, (ones, from) => {
      const written = frames(ones, from);
      expect(decodeArchiveIndex(encodeArchiveIndex(written, from), from)).toEqual(written);
    }),
  );
});

test("one that is cut off, empty or of another version is refused", () => {
  const from = { firstSeq: 1, firstByte: 0, firstLine: 0 };
  const one: ArchiveFrame = {
    ...{ kind: "events", at: 0, size: 300, rawBytes: 5000, first: 1, count: 7 },
    ...{ firstLine: 0, lineCount: 0 },
  };
  const whole = encodeArchiveIndex([one], from);
  for (let length = 0; length < whole.length; length += 1) {
    expect(() => decodeArchiveIndex(whole.subarray(0, length), from)).toThrow("cannot be read");
  }
  expect(() => decodeArchiveIndex(Uint8Array.of(9, 0), from)).toThrow("another version");
  expect(whole.length).toBeLessThan(12);
});
