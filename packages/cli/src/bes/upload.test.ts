import { status } from "@grpc/grpc-js";
import type { Clock } from "@millrace/base/clock";
import { afterEach, expect, test } from "vitest";
import { type Behaviour, startScriptedServer } from "../../../../test/model/fake-bazel/scripted-server.ts";
import { connectBes } from "./bes-client.ts";
import { withoutPause } from "./pace.ts";
import type { RecordedEvent } from "./recorded-stream.ts";
import { finishedEvent, wrapBepEvent } from "./requests.ts";
import { Upload, type UploadReport } from "./upload.ts";

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

/** Waits last no time, and are written down. */
function hastyClock(): { clock: Clock; delays: number[] } {
  const delays: number[] = [];
  const after = (delayMs: number, action: () => void): (() => void) => {
    delays.push(Math.round(delayMs));
    const immediate = setImmediate(action);
    return () => clearImmediate(immediate);
  };
  return { clock: { now: () => Date.now(), monotonic: () => performance.now(), after }, delays };
}

async function* recording(count: number): AsyncGenerator<RecordedEvent> {
  for (let sequence = 1; sequence < count; sequence++) {
    const payload = Buffer.from([0x0a, 0x00]);
    const keywords = sequence === 1 ? ["protocol_name=BEP"] : [];
    yield { sequence, event: wrapBepEvent(payload, sequence), atMs: sequence, keywords };
  }
  yield { sequence: count, event: finishedEvent(count), atMs: count, keywords: [] };
}

async function upload(behaviour: Behaviour, events: AsyncIterable<RecordedEvent>) {
  const server = await startScriptedServer(behaviour);
  const { clock, delays } = hastyClock();
  const target = {
    backend: `grpc://${server.address}`,
    apiKey: "",
    tlsCa: "",
    tlsCertificate: "",
    tlsKey: "",
  };
  const client = connectBes(target, clock);
  cleanUps.push(
    () => client.close(),
    () => server.close(),
  );
  const names = { buildId: "b", invocationId: "i", projectId: "" };
  const job = { client, names, events, renumbers: true, pace: withoutPause, clock };
  const report: UploadReport = await new Upload(job).run();
  return { report, server, delays };
}

const acksEach: Behaviour = {
  onEvent: (sequence, stream) => stream.ack(sequence),
  onHalfClose: (stream) => stream.endOk(),
};

test("every event is acknowledged, and all four calls are made", async () => {
  const { report, server } = await upload(acksEach, recording(5));
  expect(report).toEqual({ events: 5, acked: 5, resumed: 0, hasEnd: true, failure: undefined });
  expect(server.received).toEqual([[1, 2, 3, 4, 5]]);
  expect(server.lifecycleCalls).toBe(4);
});

test("after UNAVAILABLE it goes on with the first event that was not acknowledged", async () => {
  const { report, server, delays } = await upload(
    {
      onEvent: (sequence, stream) => {
        if (stream.number === 1 && sequence === 4) stream.fail(status.UNAVAILABLE);
        else stream.ack(sequence);
      },
      onHalfClose: (stream) => stream.endOk(),
    },
    recording(6),
  );
  expect(report).toMatchObject({ events: 6, acked: 6, resumed: 1, failure: undefined });
  expect(server.received[1]).toEqual([4, 5, 6]);
  expect(delays).toContain(1000);
});

test("it gives up after four retries without an acknowledgement, with growing delays", async () => {
  const { report, server, delays } = await upload(
    { onEvent: (_, stream) => stream.fail(status.UNAVAILABLE, "no database") },
    recording(3),
  );
  expect(report.failure).toBe("gave up after 4 retries: UNAVAILABLE (no database)");
  expect(server.received).toHaveLength(5);
  expect(delays.filter((delayMs) => delayMs < 15_000)).toEqual([1000, 1600, 2560, 4096]);
});

test("an acknowledgement gives it four retries more", async () => {
  const { report } = await upload(
    {
      onEvent: (sequence, stream) => {
        if (sequence === stream.number) stream.ack(sequence);
        else stream.fail(status.UNAVAILABLE);
      },
      onHalfClose: (stream) => stream.endOk(),
    },
    recording(9),
  );
  expect(report).toMatchObject({ events: 9, acked: 9, resumed: 8, failure: undefined });
});

test.each([
  ["FAILED_PRECONDITION", status.FAILED_PRECONDITION],
  ["INVALID_ARGUMENT", status.INVALID_ARGUMENT],
])("%s is final", async (name, code) => {
  const { report, server } = await upload(
    { onEvent: (_, stream) => stream.fail(code, "no such key") },
    recording(3),
  );
  expect(report.failure).toBe(`${name} (no such key)`);
  expect(server.received).toHaveLength(1);
});

test.each<[string, Behaviour, string]>([
  [
    "an acknowledgement out of order",
    { onEvent: (sequence, stream) => sequence === 2 && stream.ack(2) },
    "the server acknowledged 2 where 1 was due",
  ],
  [
    "the same one twice",
    { onEvent: (sequence, stream) => sequence === 1 && stream.ack(1, 1) },
    "the server acknowledged 1 where 2 was due",
  ],
  [
    "an end without acknowledgements",
    { onHalfClose: (stream) => stream.endOk() },
    "the server ended the stream with 3 events unacknowledged",
  ],
  [
    "an error after the last acknowledgement",
    { ...acksEach, onHalfClose: (stream) => stream.fail(status.INTERNAL) },
    "everything is acknowledged, yet the stream ended with INTERNAL (as the test says)",
  ],
])("%s is a failure", async (_, behaviour, failure) => {
  const { report } = await upload(behaviour, recording(3));
  expect(report.failure).toBe(failure);
});

test("a lifecycle call that fails at first is made again; one that is refused ends all", async () => {
  const flaky = await upload(
    { ...acksEach, lifecycle: (call) => (call < 3 ? status.UNAVAILABLE : status.OK) },
    recording(2),
  );
  expect(flaky.report.failure).toBeUndefined();
  const refused = await upload({ ...acksEach, lifecycle: () => status.FAILED_PRECONDITION }, recording(2));
  expect(refused.report.failure).toBe(
    "the call build-enqueued failed: FAILED_PRECONDITION (as the test says)",
  );
  expect(refused.server.received).toEqual([]);
});

test("a recording without an end is sent as it is, and no last calls are made", async () => {
  async function* killed(): AsyncGenerator<RecordedEvent> {
    for await (const event of recording(4)) if (event.sequence < 4) yield event;
  }
  const { report, server } = await upload(acksEach, killed());
  expect(report).toMatchObject({ events: 3, acked: 3, hasEnd: false, failure: undefined });
  expect(server.lifecycleCalls).toBe(2);
});
