import { google } from "@millrace/proto/gen/bes";
import fc from "fast-check";
import protobuf from "protobufjs/minimal.js";
import { expect, test } from "vitest";
import { AckReader } from "./ack-reader.ts";

const readAck = (message: Uint8Array): number | undefined => new AckReader().read(message);
const { PublishBuildToolEventStreamResponse } = google.devtools.build.v1;

test("the number is found whatever stands around it", () => {
  const streamId = { buildId: "b".repeat(200), invocationId: "i", component: 3 };
  for (const sequenceNumber of [0, 1, 127, 128, 500_000, 2 ** 40]) {
    const bytes = PublishBuildToolEventStreamResponse.encode({ streamId, sequenceNumber }).finish();
    const others = protobuf.Writer.create()
      .uint32(0x19)
      .fixed64(1)
      .uint32(0x25)
      .fixed32(1)
      .uint32(0x28)
      .int64(-1);
    expect(readAck(bytes)).toBe(sequenceNumber);
    expect(readAck(Buffer.concat([others.finish(), bytes]))).toBe(sequenceNumber);
  }
  expect(readAck(protobuf.Writer.create().uint32(0x10).int64(-1).finish())).toBeGreaterThan(2 ** 53);
});

test("a cut ack is no ack, unless the cut is between two fields", () => {
  const streamId = { buildId: "b", invocationId: "i" };
  const bytes = PublishBuildToolEventStreamResponse.encode({ streamId, sequenceNumber: 300 }).finish();
  const found = Array.from({ length: bytes.length }, (_, end) => readAck(bytes.subarray(0, end)));
  const betweenFields = [0, bytes.length - 3];
  expect(found).toEqual(found.map((_, end) => (betweenFields.includes(end) ? 0 : undefined)));
});

test("it agrees with protobufjs about any bytes that both can read", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20 }), (bytes) => {
      const sequence = readAck(bytes);
      fc.pre(sequence !== undefined && Number.isSafeInteger(sequence));
      let expected: number | undefined;
      try {
        expected = Number(PublishBuildToolEventStreamResponse.decode(bytes).sequenceNumber);
      } catch {
        return;
      }
      expect(sequence).toBe(expected);
    }),
  );
});
