import { ScriptedClock } from "@millrace/base/scripted-clock";
import { google } from "@millrace/proto/gen/bes";
import fc from "fast-check";
import { expect, test } from "vitest";
import { getRun, readLifecycleRequests, readStream } from "../corpus.ts";
import { decodeEvent, decodeRequest } from "../decode.ts";
import { encodeLifecycle, requestsOfPayloads, requestsOfRecording } from "./requests.ts";
import type { RequestSource } from "./upload-queue.ts";

const { PublishLifecycleEventRequest } = google.devtools.build.v1;
const names = { buildId: "b", invocationId: "i", projectId: "p", keywords: ["command_name=test", "x"] };

function allOf(source: RequestSource): Uint8Array[] {
  const requests: Uint8Array[] = [];
  while (!source.isDone) requests.push(source.next(requests.length + 1));
  return requests;
}

test("requests of payloads are what Bazel sends: numbered, keywords first, the end last", () => {
  const clock = new ScriptedClock(1_796_080_542_597);
  const payloads = readStream(getRun("bazel7-test-ok"), 1).flatMap((request) => {
    const content = decodeEvent(decodeRequest(request).event);
    return content.kind === "bazel" ? [content.payload] : [];
  });
  const requests = allOf(requestsOfPayloads(payloads, { names, clock }));
  expect(requests.length).toBe(payloads.length + 1);
  for (const [index, request] of requests.entries()) {
    const decoded = decodeRequest(request);
    expect(decoded).toMatchObject({ sequence: index + 1, buildId: "b", invocationId: "i", projectId: "p" });
    expect(decoded.keywords).toEqual(index === 0 ? names.keywords : []);
    const content = decodeEvent(decoded.event);
    expect(content.timeMs).toBe(1_796_080_542_597);
    if (content.kind === "bazel")
      expect(Buffer.from(content.payload).equals(payloads[index] ?? new Uint8Array(0))).toBe(true);
    else expect([content.kind, index]).toEqual(["stream-finished", payloads.length]);
  }
});

test("with a start given, event k happened k ms after it, the last one too", () => {
  const startMs = 1_796_080_542_597;
  const requests = allOf(requestsOfPayloads([Buffer.of(8, 1), Buffer.of(8, 2)], { names, startMs }));
  expect(requests.map((request) => decodeEvent(decodeRequest(request).event).timeMs)).toEqual([
    startMs + 1,
    startMs + 2,
    startMs + 3,
  ]);
});

test("payloads of any bytes arrive as they are", () => {
  const clock = new ScriptedClock(5);
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.integer({ min: 1, max: 2 ** 40 }),
      (payload, sequence) => {
        const long = { ...names, buildId: "b".repeat(200) };
        const source = requestsOfPayloads([payload], { names: long, clock });
        const decoded = decodeRequest(source.next(sequence));
        expect(decoded.sequence).toBe(sequence);
        const bytes = google.devtools.build.v1.BuildEvent.decode(decoded.event).bazelEvent?.value ?? [];
        expect([...bytes]).toEqual([...payload]);
      },
    ),
  );
});

test("a recording under its own names is the recording, byte for byte", () => {
  const recording = readStream(getRun("bazel4-test-ok"), 1);
  const first = decodeRequest(recording[0] ?? new Uint8Array(0));
  const again = allOf(requestsOfRecording(recording, first));
  expect(again.map((request) => Buffer.from(request).toString("hex"))).toEqual(
    recording.map((request) => request.toString("hex")),
  );
});

test("lifecycle calls are those of Bazel 7.7.1 but for the time", () => {
  const recorded = readLifecycleRequests(getRun("bazel7-test-ok")).map((bytes) =>
    PublishLifecycleEventRequest.decode(bytes),
  );
  const steps = ["build-enqueued", "attempt-started", "attempt-finished", "build-finished"] as const;
  const ids = recorded[1]?.buildEvent?.streamId;
  const recordedNames = {
    buildId: ids?.buildId ?? "",
    invocationId: ids?.invocationId ?? "",
    projectId: recorded[0]?.projectId ?? "",
    keywords: recorded[0]?.notificationKeywords ?? [],
  };
  const own = steps.map((step) =>
    PublishLifecycleEventRequest.decode(encodeLifecycle(step, { names: recordedNames, nowMs: 0, result: 1 })),
  );
  for (const call of [...own, ...recorded])
    if (call.buildEvent?.event) call.buildEvent.event.eventTime = null;
  expect(JSON.parse(JSON.stringify(own))).toEqual(JSON.parse(JSON.stringify(recorded)));
});
