import { expect, test } from "vitest";
import { google } from "../gen/bes.js";
import { isMalformed } from "../wire/field-scanner.ts";
import { type Envelope, readEnvelope } from "./envelope.ts";

const { BuildEvent } = google.devtools.build.v1;
const typeUrl = "type.googleapis.com/build_event_stream.BuildEvent";

function readWell(bytes: Uint8Array): Envelope {
  const envelope = readEnvelope(bytes);
  if (isMalformed(envelope)) throw new Error(envelope.reason);
  return envelope;
}

function payloadOf(envelope: Envelope): string {
  return Buffer.from(envelope.bytes.subarray(envelope.payloadStart, envelope.payloadEnd)).toString();
}

test("a BEP event gives its time and where its payload lies", () => {
  const eventTime = { seconds: 1_796_080_542, nanos: 597_999_999 };
  const bytes = BuildEvent.encode({
    eventTime,
    bazelEvent: { type_url: typeUrl, value: Buffer.from("bep") },
  });
  const envelope = readWell(bytes.finish());
  expect(envelope).toMatchObject({ kind: "bazel", typeUrlOk: true, eventTimeMs: 1_796_080_542_597 });
  expect(payloadOf(envelope)).toBe("bep");
});

test.each([
  [typeUrl, true],
  ["example.com/some/build_event_stream.BuildEvent", true],
  ["type.googleapis.com/google.protobuf.Empty", false],
  ["build_event_stream.BuildEvent", false],
  ["type.googleapis.com/not_build_event_stream.BuildEvent", false],
  ["", false],
])("type URL %j is BEP: %s", (type_url, expected) => {
  const bytes = BuildEvent.encode({ bazelEvent: { type_url, value: Buffer.from("x") } }).finish();
  expect(readWell(bytes)).toMatchObject({ kind: "bazel", typeUrlOk: expected });
});

test.each([
  [{ componentStreamFinished: { type: 1 } }, "stream-finished"],
  [{ consoleOutput: { textOutput: "x" } }, "other"],
  [{}, "other"],
] as const)("%j is %s, without a payload", (content, kind) => {
  const envelope = readWell(BuildEvent.encode(content).finish());
  expect(envelope).toMatchObject({ kind, typeUrlOk: false, eventTimeMs: undefined });
  expect(payloadOf(envelope)).toBe("");
});

test("the last content wins, and parts of one Any belong together", () => {
  const part = (any: object) => BuildEvent.encode({ bazelEvent: any }).finish();
  const other = BuildEvent.encode({ consoleOutput: {} }).finish();
  const split = readWell(Buffer.concat([part({ value: Buffer.from("v") }), part({ type_url: typeUrl })]));
  expect(split).toMatchObject({ kind: "bazel", typeUrlOk: true });
  expect(payloadOf(split)).toBe("v");
  expect(readWell(Buffer.concat([part({ type_url: typeUrl }), other])).kind).toBe("other");
  const again = readWell(
    Buffer.concat([part({ type_url: typeUrl }), other, part({ value: Buffer.from("w") })]),
  );
  expect(again).toMatchObject({ kind: "bazel", typeUrlOk: false });
});

test("a fault inside the Any is a fault of the event, at its offset", () => {
  const bytes = Uint8Array.from([0xe2, 0x03, 3, 0x0a, 9, 1]);
  expect(readEnvelope(bytes)).toEqual({
    kind: "malformed",
    offset: 4,
    reason: "value reaches beyond the end",
  });
});
