import fc from "fast-check";
import { expect, test } from "vitest";
import { google } from "../gen/bes.js";
import protobuf from "../protobuf-numbers.js";
import { readConnectionIdentity } from "./identity.ts";
import { peekRequest } from "./peek.ts";

const { BuildEvent, PublishBuildToolEventStreamRequest, StreamId } = google.devtools.build.v1;

// Encoded messages as lists of fields, so that order, repetition and splitting are free.
const bytes = fc.uint8Array({ maxLength: 6 });
const varintField = (field: number, value: fc.Arbitrary<number>) =>
  value.map((number) =>
    protobuf.Writer.create()
      .uint32(field << 3)
      .int64(number)
      .finish(),
  );
const bytesField = (field: number, value: fc.Arbitrary<Uint8Array>) =>
  value.map((content) =>
    protobuf.Writer.create()
      .uint32((field << 3) | 2)
      .bytes(content)
      .finish(),
  );
const message = (...fields: fc.Arbitrary<Uint8Array>[]) =>
  fc.array(fc.oneof(...fields), { maxLength: 4 }).map((parts) => Uint8Array.from(Buffer.concat(parts)));
const text = fc.string({ maxLength: 4 }).map((value): Uint8Array => Buffer.from(value));

const unknown = fc.oneof(
  varintField(900, fc.integer()),
  bytesField(901, bytes),
  fc.constant(Uint8Array.from([0x93, 0x4b, 0x08, 0x01, 0x94, 0x4b])), // Group 1202 with one field.
  fc.constant(Uint8Array.from([0x25, 1, 2, 3, 4])), // A fixed32 where field 4 is a message.
  fc.constant(Uint8Array.from([0x21, 1, 2, 3, 4, 5, 6, 7, 8])),
);
const streamId = message(bytesField(1, text), varintField(3, fc.nat(4)), bytesField(6, text), unknown);
const any = message(bytesField(1, text), bytesField(2, bytes));
const event = message(
  bytesField(1, message(varintField(1, fc.nat()), varintField(2, fc.nat(999_999_999)))),
  bytesField(60, any),
  bytesField(59, message(varintField(1, fc.nat(2)))),
  bytesField(61, any),
  bytesField(53, fc.constant(new Uint8Array(0))),
  unknown,
);
const ordered = message(
  bytesField(1, streamId),
  varintField(2, fc.maxSafeInteger()),
  bytesField(3, event),
  unknown,
);
const request = message(
  bytesField(4, ordered),
  bytesField(4, ordered),
  bytesField(5, text),
  bytesField(6, text),
  unknown,
);

const damaged = fc
  .record({ request, at: fc.nat(), cut: fc.boolean(), byte: fc.nat(255) })
  .map(({ request, at, cut, byte }) => {
    if (request.length === 0) return request;
    const copy = Uint8Array.from(request);
    copy[at % copy.length] = byte;
    return cut ? copy.subarray(0, at % copy.length) : copy;
  });

const contentNames: Record<string, string> = {
  bazelEvent: "bazel",
  componentStreamFinished: "stream-finished",
};

function decodeAll(input: Uint8Array) {
  try {
    return PublishBuildToolEventStreamRequest.decode(input);
  } catch {
    return undefined;
  }
}

/** Whatever the complete decoder accepts, the peek accepts too, with the same values. */
function expectAgreement(input: Uint8Array): void {
  const peeked = peekRequest(input);
  const whole = decodeAll(input);
  if (whole === undefined) return; // The peek does not look inside the payload; it may accept more.
  if (peeked.kind === "malformed") {
    // protobufjs skips an unknown varint of any length; the format allows 10 bytes.
    expect(peeked.reason).toBe("varint is longer than 10 bytes");
    return;
  }
  expect(peeked.sequence).toBe(whole.orderedBuildEvent?.sequenceNumber ?? 0);
  const streamIdBytes = peeked.bytes.subarray(peeked.streamIdStart, peeked.streamIdEnd);
  expect(StreamId.decode(streamIdBytes)).toEqual(StreamId.create(whole.orderedBuildEvent?.streamId ?? {}));
  const eventBytes = Uint8Array.from(peeked.bytes.subarray(peeked.eventStart, peeked.eventEnd));
  const decoded = BuildEvent.decode(eventBytes);
  expect(decoded).toEqual(BuildEvent.create(whole.orderedBuildEvent?.event ?? {}));
  expect(peeked.holds).toBe(decoded.event ? (contentNames[decoded.event] ?? "other") : "none");
  expect(readConnectionIdentity(input)).toEqual({
    kind: "identity",
    streamId: {
      buildId: whole.orderedBuildEvent?.streamId?.buildId ?? "",
      invocationId: whole.orderedBuildEvent?.streamId?.invocationId ?? "",
      component: whole.orderedBuildEvent?.streamId?.component ?? 0,
    },
    projectId: whole.projectId,
    keywords: whole.notificationKeywords ?? [],
  });
}

test("fields in any order, repeated, split and among unknown ones are read as the complete decoder reads them", () => {
  fc.assert(fc.property(request, expectAgreement), { numRuns: 2000 });
});

test("damaged requests are read as the complete decoder reads them, or are malformed", () => {
  fc.assert(fc.property(damaged, expectAgreement), { numRuns: 3000 });
});

test("random bytes never throw", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), expectAgreement), { numRuns: 3000 });
});

test("nothing outside the given range is read: what surrounds it changes nothing", () => {
  fc.assert(
    fc.property(fc.oneof(damaged, fc.uint8Array({ maxLength: 20 })), fc.nat(255), (input, fill) => {
      const surrounded = new Uint8Array(input.length + 24).fill(fill);
      surrounded.set(input, 12);
      const { bytes: _, ...inside } = { bytes: input, ...peekRequest(surrounded.subarray(12, -12)) };
      const { bytes: __, ...alone } = { bytes: input, ...peekRequest(Uint8Array.from(input)) };
      expect(inside).toEqual(alone);
    }),
    { numRuns: 2000 },
  );
});
