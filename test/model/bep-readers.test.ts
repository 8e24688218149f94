import { readFileSync } from "node:fs";
import { readEnvelope } from "@millrace/proto/bep/envelope";
import { readConnectionIdentity } from "@millrace/proto/bes/identity";
import { readLifecycle } from "@millrace/proto/bes/lifecycle";
import { type PeekedRequest, peekRequest } from "@millrace/proto/bes/peek";
import { build_event_stream } from "@millrace/proto/gen/bep";
import { google } from "@millrace/proto/gen/bes";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import { expect, test } from "vitest";
import {
  listPublicFiles,
  listRuns,
  publicDataSkipReason,
  readBinaryEventFile,
  readLifecycleRequests,
  readStream,
} from "./corpus.ts";
import { splitDelimited } from "./frames.ts";
import { expectReadersAgree, readers } from "./readers-agree.ts";

const { PublishBuildToolEventStreamRequest, PublishLifecycleEventRequest } = google.devtools.build.v1;
function peekWell(request: Uint8Array): PeekedRequest {
  const peeked = peekRequest(request);
  if (isMalformed(peeked)) throw new Error(peeked.reason);
  return peeked;
}

test.each(listRuns().map((run) => [run.name, run] as const))(
  "%s: requests, events, ids and payloads",
  (_, run) => {
    for (let stream = 1; stream <= run.streamCount; stream += 1) {
      for (const request of readStream(run, stream)) {
        const decoded = PublishBuildToolEventStreamRequest.decode(request);
        const peeked = peekWell(request);
        expect(peeked.sequence).toBe(decoded.orderedBuildEvent?.sequenceNumber);
        expect(readConnectionIdentity(request)).toEqual({
          kind: "identity",
          streamId: { ...decoded.orderedBuildEvent?.streamId },
          projectId: decoded.projectId,
          keywords: decoded.notificationKeywords ?? [],
        });
        const event = decoded.orderedBuildEvent?.event;
        const envelope = readEnvelope(peeked.bytes.subarray(peeked.eventStart, peeked.eventEnd));
        if (isMalformed(envelope)) throw new Error(envelope.reason);
        expect(envelope.kind).toBe(event?.bazelEvent ? "bazel" : "stream-finished");
        expect(envelope.eventTimeMs).toBe(
          (event?.eventTime?.seconds ?? 0) * 1000 + Math.floor((event?.eventTime?.nanos ?? 0) / 1e6),
        );
        if (envelope.kind !== "bazel") continue;
        expect(envelope.typeUrlOk).toBe(true);
        expectReadersAgree(envelope.bytes.subarray(envelope.payloadStart, envelope.payloadEnd));
      }
    }
  },
);

test("the recorded runs reach every reader", () => {
  const reached = new Set<string>();
  for (const run of listRuns()) {
    for (const payload of readBinaryEventFile(run) ?? []) reached.add(expectReadersAgree(payload));
    if (!/test-bad|query|all-actions/.test(run.name)) continue;
    for (const request of readStream(run, 1)) {
      const value =
        PublishBuildToolEventStreamRequest.decode(request).orderedBuildEvent?.event?.bazelEvent?.value;
      if (value) reached.add(build_event_stream.BuildEvent.decode(value).payload ?? "");
    }
  }
  // What no recorded Bazel says; the property test reaches them.
  const unsaid = ["fetch", "targetSummary", "testProgress"];
  expect(Object.keys(readers).filter((name) => !reached.has(name))).toEqual(unsaid);
});

test("recorded lifecycle calls are read as the static decoder reads them", () => {
  const kinds = new Set<string>();
  for (const request of listRuns().flatMap(readLifecycleRequests)) {
    const decoded = PublishLifecycleEventRequest.decode(request);
    const lifecycle = readLifecycle(request);
    kinds.add(lifecycle.kind);
    expect(lifecycle).toMatchObject({
      sequence: decoded.buildEvent?.sequenceNumber,
      streamId: { ...decoded.buildEvent?.streamId },
      projectId: decoded.projectId,
    });
  }
  const all = ["attempt-finished", "attempt-started", "build-enqueued", "build-finished"];
  expect([...kinds].sort()).toEqual(all);
});

const publicBinary = listPublicFiles(".bep").filter((file) => !file.name.endsWith("truncated.bep"));

test.skipIf(publicBinary.length === 0)(
  `newer Bazels' binary files${publicBinary.length === 0 ? ` (${publicDataSkipReason()})` : ""}`,
  () => {
    for (const file of publicBinary) {
      for (const payload of splitDelimited(readFileSync(file.path))) expectReadersAgree(payload);
    }
  },
);
