import { expect, test } from "vitest";
import { google } from "../gen/bes.js";
import { readConnectionIdentity, readStreamId } from "./identity.ts";
import { readLifecycle } from "./lifecycle.ts";
import { type PeekedRequest, peekRequest } from "./peek.ts";

const { BuildEvent, PublishBuildToolEventStreamRequest, PublishLifecycleEventRequest } =
  google.devtools.build.v1;
type Request = google.devtools.build.v1.PublishBuildToolEventStreamRequest.$Properties;

const streamId = { buildId: "b", invocationId: "i", component: 3 };
const bazelEvent = {
  type_url: "type.googleapis.com/build_event_stream.BuildEvent",
  value: Buffer.from("ab"),
};

function encode(request: Request): Uint8Array {
  return PublishBuildToolEventStreamRequest.encode(request).finish();
}

function peekWell(bytes: Uint8Array): PeekedRequest {
  const peeked = peekRequest(bytes);
  if (peeked.kind === "malformed") throw new Error(`${peeked.reason} at ${peeked.offset}`);
  return peeked;
}

test("a request gives its sequence number, stream id and event", () => {
  const event = { eventTime: { seconds: 5, nanos: 1 }, bazelEvent };
  const peeked = peekWell(encode({ orderedBuildEvent: { streamId, sequenceNumber: 300, event } }));
  expect(peeked).toMatchObject({ sequence: 300, holds: "bazel" });
  const eventBytes = peeked.bytes.subarray(peeked.eventStart, peeked.eventEnd);
  expect(Buffer.from(eventBytes)).toEqual(Buffer.from(BuildEvent.encode(event).finish()));
  expect(readStreamId(peeked.bytes.subarray(peeked.streamIdStart, peeked.streamIdEnd))).toEqual(streamId);
});

test.each([
  [{ bazelEvent }, "bazel"],
  [{ componentStreamFinished: { type: 1 } }, "stream-finished"],
  [{ consoleOutput: { textOutput: "x" } }, "other"],
  [{ buildExecutionEvent: bazelEvent }, "other"],
  [{ eventTime: { seconds: 1 } }, "none"],
] as const)("an event %j holds %s", (event, holds) => {
  expect(peekWell(encode({ orderedBuildEvent: { sequenceNumber: 1, event } })).holds).toBe(holds);
});

test.each([0, -1, -(2 ** 40), 2 ** 33, 2 ** 53 - 1])(
  "sequence number %d is read as sent",
  (sequenceNumber) => {
    expect(peekWell(encode({ orderedBuildEvent: { sequenceNumber } })).sequence).toBe(sequenceNumber);
  },
);

test("an empty request has sequence number 0 and nothing in it", () => {
  const peeked = peekWell(new Uint8Array(0));
  expect(peeked).toMatchObject({ sequence: 0, holds: "none" });
  expect(peeked.eventEnd - peeked.eventStart).toBe(0);
});

test("a request cut off anywhere inside its event is malformed, with an offset inside it", () => {
  const whole = encode({ orderedBuildEvent: { streamId, sequenceNumber: 300, event: { bazelEvent } } });
  for (let length = 1; length < whole.length; length += 1) {
    const peeked = peekRequest(whole.subarray(0, length));
    expect(peeked.kind).toBe("malformed");
    if (peeked.kind === "malformed") expect(peeked.offset).toBeLessThanOrEqual(length);
  }
});

test.each([
  ["a length beyond the end", [0x22, 0x05, 0x10], "value reaches beyond the end"],
  ["a varint of 11 bytes", [0x38, ...Array(10).fill(0x80), 0], "varint is longer than 10 bytes"],
  ["a varint without its last byte", [0x38, 0x80], "varint is cut off"],
  ["a length without its last byte", [0x22, 0x80], "length is cut off"],
  ["a length of 4 GiB", [0x22, 0xff, 0xff, 0xff, 0xff, 0x0f], "length has more than 31 bits"],
  ["a tag without its last byte", [0x80], "tag is cut off"],
  ["a tag of 33 bits", [0x80, 0x80, 0x80, 0x80, 0x10], "tag has more than 32 bits"],
  ["field number 0", [0x00, 0x01], "field number 0"],
  ["a group that never ends", [0x0b, 0x08, 0x01], "group is cut off"],
  ["a group that ends as another", [0x0b, 0x14], "group ends with another field's number"],
  ["an end without a group", [0x0c], "unknown wire type"],
  ["groups 101 deep", Array(101).fill(0x0b), "groups are nested too deeply"],
] as const)("%s is malformed", (_, bytes, reason) => {
  expect(peekRequest(Uint8Array.from(bytes))).toMatchObject({ kind: "malformed", reason });
});

test("the first request names the connection", () => {
  const request = encode({
    orderedBuildEvent: { streamId, sequenceNumber: 1 },
    notificationKeywords: ["command_name=build", "user_keyword=ü"],
    projectId: "p",
  });
  expect(readConnectionIdentity(request)).toEqual({
    kind: "identity",
    streamId,
    projectId: "p",
    keywords: ["command_name=build", "user_keyword=ü"],
  });
});

test("an id that is not UTF-8 is malformed", () => {
  const bytes = Uint8Array.from([0x0a, 2, 0xc3, 0x28]);
  expect(readStreamId(bytes)).toMatchObject({ kind: "malformed", reason: "text is not UTF-8" });
});

test.each([
  [{ buildEnqueued: {} }, { kind: "build-enqueued" }],
  [{ invocationAttemptStarted: { attemptNumber: 1 } }, { kind: "attempt-started", attemptNumber: 1 }],
  [
    { invocationAttemptFinished: { invocationStatus: { result: 2 } } },
    { kind: "attempt-finished", result: 2 },
  ],
  [{ buildFinished: { status: {} } }, { kind: "build-finished", result: 0 }],
  [{ bazelEvent }, { kind: "other" }],
] as const)("a lifecycle call with %j is described", (content, description) => {
  const request = PublishLifecycleEventRequest.encode({
    buildEvent: {
      streamId,
      sequenceNumber: 2,
      event: { eventTime: { seconds: 7, nanos: 123_456_789 }, ...content },
    },
    projectId: "p",
    notificationKeywords: ["k=v"],
  }).finish();
  expect(readLifecycle(request)).toEqual({
    streamId,
    sequence: 2,
    projectId: "p",
    keywords: ["k=v"],
    eventTimeMs: 7123,
    ...description,
  });
});

test("a broken lifecycle call is malformed", () => {
  expect(readLifecycle(Uint8Array.from([0x12, 0x7f]))).toMatchObject({ kind: "malformed" });
});
