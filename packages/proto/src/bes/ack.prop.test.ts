import fc from "fast-check";
import { expect, test } from "vitest";
import { google } from "../gen/bes.js";
import { frameAck, frameAcks } from "./ack.ts";

const { PublishBuildToolEventStreamResponse, StreamId } = google.devtools.build.v1;

const streamId = fc
  .record({ buildId: fc.string({ maxLength: 70 }), invocationId: fc.string({ maxLength: 70 }) })
  .map((ids) => StreamId.encode({ ...ids, component: 3 }).finish());

const first = fc.oneof(
  fc.integer({ min: 1, max: 20_000 }),
  // Where the length of a varint changes.
  fc
    .integer({ min: 1, max: 7 })
    .chain((power) =>
      fc.integer({ min: -3, max: 3 }).map((delta) => Math.min(2 ** 53 - 100, 2 ** (7 * power)) + delta),
    ),
);

function unframe(bytes: Buffer): Buffer[] {
  const messages: Buffer[] = [];
  let at = 0;
  while (at < bytes.length) {
    expect(bytes[at]).toBe(0);
    const length = bytes.readUInt32BE(at + 1);
    messages.push(bytes.subarray(at + 5, at + 5 + length));
    at += 5 + length;
  }
  expect(at).toBe(bytes.length);
  return messages;
}

test("a range of acks is one framed response per number, ascending, each with the connection's stream id", () => {
  fc.assert(
    fc.property(streamId, first, fc.integer({ min: 0, max: 40 }), (id, from, more) => {
      const messages = unframe(frameAcks({ streamId: id, from, to: from + more }));
      const responses = messages.map((message) => PublishBuildToolEventStreamResponse.decode(message));
      expect(responses.map((response) => response.sequenceNumber)).toEqual(
        Array.from({ length: more + 1 }, (_, index) => from + index),
      );
      for (const response of responses) {
        expect(StreamId.encode(response.streamId ?? {}).finish()).toEqual(id);
      }
    }),
  );
});

test("one ack is the range of one", () => {
  const id = StreamId.encode({ buildId: "b" }).finish();
  expect(frameAck(id, 7)).toEqual(frameAcks({ streamId: id, from: 7, to: 7 }));
});

test("an empty range is no bytes", () => {
  expect(frameAcks({ streamId: new Uint8Array(0), from: 5, to: 4 }).length).toBe(0);
});
