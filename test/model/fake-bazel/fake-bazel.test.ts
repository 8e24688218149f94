import { afterEach, describe, expect, test } from "vitest";
import { getRun, readStream } from "../corpus.ts";
import { statusCode } from "./bes-channel.ts";
import { type FakeBazelOptions, type FakeBazelReport, runFakeBazel } from "./fake-bazel.ts";
import {
  type Behaviour,
  type ScriptedServer,
  startScriptedServer,
  unusedAddress,
} from "./scripted-server.ts";

// bes-client.md §1.4: what Bazel 7.7.1 (or 4.2.3, where 7.7.1 was not run) did with these servers.

const payloads = Array.from({ length: 49 }, (_, index) => Buffer.from([0xa0, 0x01, index & 1]));
const eventCount = payloads.length + 1;
const all = Array.from({ length: eventCount }, (_, index) => index + 1);

const servers: ScriptedServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const ackAtOnce: Behaviour = {
  onEvent: (sequence, stream) => stream.ack(sequence),
  onHalfClose: (stream) => stream.endOk(),
};

/** Acks below `at`, fails there, on the first `times` streams; serves the later ones well. */
function failAt(at: number, code: number, times = Number.POSITIVE_INFINITY): Behaviour {
  return {
    onEvent: (sequence, stream) => {
      if (stream.number <= times && sequence === at) stream.fail(code);
      else stream.ack(sequence);
    },
    onHalfClose: (stream) => stream.endOk(),
  };
}

async function upload(behaviour: Behaviour, options: Partial<FakeBazelOptions> = {}) {
  const server = await startScriptedServer(behaviour);
  servers.push(server);
  const report = await runFakeBazel({
    address: server.address,
    build: { payloads },
    buildId: "build",
    invocationId: "invocation",
    retryDelayScale: 0.001,
    ...options,
  });
  return { report, server };
}

const steps = (report: FakeBazelReport) => report.lifecycleCalls.map((call) => call.step);
const allSteps = ["build-enqueued", "attempt-started", "attempt-finished", "build-finished"];

describe.each(["grpc-js", "http2"] as const)("over %s", (transport) => {
  const run = (behaviour: Behaviour, options: Partial<FakeBazelOptions> = {}) =>
    upload(behaviour, { transport, ...options });

  test("acks each at once: exit 0", async () => {
    const { report, server } = await run(ackAtOnce);
    expect(report).toMatchObject({
      exitCode: 0,
      message: "",
      acked: eventCount,
      sent: eventCount,
      resent: 0,
    });
    expect(report.streams).toEqual([1]);
    expect(report.ackLatenciesMs.length).toBe(eventCount);
    expect(steps(report)).toEqual(allSteps);
    expect(server.received).toEqual([all]);
  });

  test("acks all after half-close: exit 0", async () => {
    const behaviour: Behaviour = {
      onHalfClose: (stream, received) => {
        stream.ack(...received);
        stream.endOk();
      },
    };
    expect((await run(behaviour)).report).toMatchObject({ exitCode: 0, acked: eventCount });
  });

  test("OK without acks: exit 45", async () => {
    const { report } = await run({ onHalfClose: (stream) => stream.endOk() });
    expect(report).toMatchObject({
      exitCode: 45,
      message: `Server closed stream with status OK but not all ACKs have been received (ackQueue=${eventCount})`,
    });
    expect(steps(report)).toEqual(allSteps);
  });

  test.each([
    ["in reverse", (received: readonly number[]) => received.toReversed(), 1, eventCount],
    ["only the last", (received: readonly number[]) => received.slice(-1), 1, eventCount],
    ["all but 20", (received: readonly number[]) => received.filter((number) => number !== 20), 20, 21],
    ["20 twice", (received: readonly number[]) => received.flatMap((n) => (n === 20 ? [n, n] : [n])), 21, 20],
  ] as const)("acks %s: exit 45", async (_, choose, due, got) => {
    const { report } = await run({
      onHalfClose: (stream, received) => {
        stream.ack(...choose(received));
        stream.endOk();
      },
    });
    expect(report).toMatchObject({
      exitCode: 45,
      message: `Expected ACK with seqNum=${due} but received ACK with seqNum=${got}`,
    });
    expect(report.streams).toEqual([1]);
  });

  test("acks an event too many: exit 45", async () => {
    const { report } = await run({
      onEvent: (sequence, stream) => stream.ack(sequence),
      onHalfClose: (stream) => stream.ack(eventCount + 1),
    });
    expect(report).toMatchObject({ exitCode: 45, message: expect.stringContaining("no ACK was expected") });
  });

  test("answers garbage once: as an INTERNAL error, retried, exit 0", async () => {
    const { report } = await run({
      ...ackAtOnce,
      onEvent: (sequence, stream) => {
        if (stream.number === 1 && sequence === 20) stream.babble();
        else stream.ack(sequence);
      },
    });
    expect(report).toMatchObject({ exitCode: 0, streams: [1, 20] });
  });

  test.each([statusCode.failedPrecondition, statusCode.invalidArgument])(
    "code %d at 20: exit 45 at once, no retry, finish events sent",
    async (code) => {
      const { report } = await run(failAt(20, code));
      expect(report).toMatchObject({ exitCode: 45, streams: [1], retryDelaysMs: [] });
      expect(steps(report)).toEqual(allSteps);
    },
  );

  test.each([statusCode.unavailable, statusCode.resourceExhausted])(
    "code %d at 20, once: exit 0, the second stream begins at 20",
    async (code) => {
      const { report, server } = await run(failAt(20, code, 1));
      expect(report).toMatchObject({ exitCode: 0, streams: [1, 20], retryDelaysMs: [1] });
      expect(server.received[1]).toEqual(all.slice(19));
    },
  );

  test("UNAVAILABLE at 20, nothing acked, once: exit 0, the second stream begins at 1", async () => {
    const behaviour: Behaviour = {
      onEvent: (sequence, stream) => {
        if (stream.number > 1) stream.ack(sequence);
        else if (sequence === 20) stream.fail(statusCode.unavailable);
      },
      onHalfClose: (stream) => stream.endOk(),
    };
    const { report, server } = await run(behaviour);
    expect(report).toMatchObject({ exitCode: 0, streams: [1, 1] });
    expect(server.received[1]).toEqual(all);
  });

  test.each([
    statusCode.unavailable,
    statusCode.permissionDenied,
    statusCode.unauthenticated,
    statusCode.unimplemented,
    statusCode.internal,
  ])("code %d always: exit 38 after 5 streams and 9.3 s", async (code) => {
    const { report } = await run({ onEvent: (_, stream) => stream.fail(code) });
    expect(report).toMatchObject({ exitCode: 38, streams: [1, 1, 1, 1, 1] });
    expect(report.retryDelaysMs.map((ms) => Math.round(ms * 1e6) / 1e6)).toEqual([1, 1.6, 2.56, 4.096]);
    expect(steps(report)).toEqual(allSteps);
  });

  test("UNAVAILABLE after every 2 acks, 8 times: an ack renews the patience, exit 0", async () => {
    const behaviour: Behaviour = {
      onEvent: (sequence, stream) => {
        if (stream.number <= 8 && sequence === stream.number * 2 + 1) stream.fail(statusCode.unavailable);
        else stream.ack(sequence);
      },
      onHalfClose: (stream) => stream.endOk(),
    };
    const { report } = await run(behaviour);
    expect(report).toMatchObject({ exitCode: 0, streams: [1, 3, 5, 7, 9, 11, 13, 15, 17] });
    expect(report.retryDelaysMs).toEqual(Array(8).fill(1));
  });

  test("TCP cut at 20: exit 0, nothing lost", async () => {
    const { report, server } = await run(ackAtOnce, { cutAfter: [20] });
    expect(report).toMatchObject({ exitCode: 0, acked: eventCount });
    expect(report.streams.length).toBeGreaterThanOrEqual(2);
    expect(report.streams[1]).toBeLessThanOrEqual(21);
    expect([...new Set(server.received.flat())].sort((a, b) => a - b)).toEqual(all);
  });

  test("ends OK early: exit 45", async () => {
    const { report } = await run(
      { onEvent: (sequence, stream) => (sequence === 20 ? stream.endOk() : stream.ack(sequence)) },
      { gapMs: 1 },
    );
    expect(report).toMatchObject({
      exitCode: 45,
      message: expect.stringMatching(/status OK but not all .*ackQueue=/),
    });
  });

  test("all acked, then UNAVAILABLE: exit 45 at once", async () => {
    const { report } = await run({
      ...ackAtOnce,
      onHalfClose: (stream) => stream.fail(statusCode.unavailable),
    });
    expect(report).toMatchObject({
      exitCode: 45,
      streams: [1],
      message: expect.stringContaining("BES_STREAM_COMPLETED_WITH_REMOTE_ERROR"),
    });
  });

  test("all acked, ends later: exit 0, waits", async () => {
    const { report } = await run({
      ...ackAtOnce,
      onHalfClose: (stream) => setImmediate(() => setImmediate(() => stream.endOk())),
    });
    expect(report).toMatchObject({ exitCode: 0, acked: eventCount });
  });

  test("never ends, with a timeout: exit 38, finish events sent", async () => {
    const { report } = await run({ onEvent: (sequence, stream) => stream.ack(sequence) }, { timeoutMs: 20 });
    expect(report).toMatchObject({ exitCode: 38, message: "The Build Event Protocol upload timed out" });
    expect(steps(report)).toEqual(allSteps);
  });

  test("GOAWAY in mid-stream, stream still served: exit 0, lifecycle goes over a new connection", async () => {
    let goAway = (): void => {};
    const started = await startScriptedServer({
      onEvent: (sequence, stream) => {
        if (sequence === 20) goAway();
        stream.ack(sequence);
      },
      onHalfClose: (stream) => stream.endOk(),
    });
    servers.push(started);
    goAway = () => started.goAway();
    const names = { buildId: "build", invocationId: "invocation" };
    const report = await runFakeBazel({ ...names, address: started.address, build: { payloads }, transport });
    expect(report).toMatchObject({ exitCode: 0, streams: [1] });
    expect(started.lifecycleCalls).toBe(4);
  });

  test.each([1, 3])("lifecycle call %d UNAVAILABLE once: exit 0", async (failing) => {
    const behaviour = {
      ...ackAtOnce,
      lifecycle: (call: number) => (call === failing ? statusCode.unavailable : 0),
    };
    const { report } = await run(behaviour);
    expect(report).toMatchObject({ exitCode: 0 });
    expect(report.lifecycleCalls.length).toBe(5);
  });

  test.each([statusCode.unavailable, statusCode.unimplemented])(
    "lifecycle code %d always: exit 38 after 5 calls, no stream",
    async (code) => {
      const { report, server } = await run({ ...ackAtOnce, lifecycle: () => code });
      expect(report).toMatchObject({ exitCode: 38, streams: [] });
      expect(steps(report)).toEqual(Array(5).fill("build-enqueued"));
      expect(server.received).toEqual([]);
    },
  );

  test("lifecycle FAILED_PRECONDITION: exit 45 at once, no stream, nothing more", async () => {
    const { report } = await run({ ...ackAtOnce, lifecycle: () => statusCode.failedPrecondition });
    expect(report).toMatchObject({ exitCode: 45, streams: [] });
    expect(steps(report)).toEqual(["build-enqueued"]);
  });

  test("lifecycle finish FAILED_PRECONDITION: exit 45 though all events were acked", async () => {
    const behaviour = {
      ...ackAtOnce,
      lifecycle: (call: number) => (call === 3 ? statusCode.failedPrecondition : 0),
    };
    const { report } = await run(behaviour);
    expect(report).toMatchObject({ exitCode: 45, acked: eventCount });
    expect(steps(report)).toEqual(["build-enqueued", "attempt-started", "attempt-finished"]);
  });

  test("nothing listens: exit 38", async () => {
    const names = { buildId: "build", invocationId: "invocation" };
    const address = await unusedAddress();
    const report = await runFakeBazel({
      ...names,
      address,
      build: { payloads },
      transport,
      retryDelayScale: 0,
    });
    expect(report).toMatchObject({ exitCode: 38, streams: [], acked: 0 });
  });

  test("a killed Bazel server says nothing more", async () => {
    const { report, server } = await run(ackAtOnce, { diesAfter: 20 });
    expect(report).toMatchObject({ exitCode: 37, streams: [1] });
    expect(steps(report)).toEqual(["build-enqueued", "attempt-started"]);
    expect(server.lifecycleCalls).toBe(2);
  });

  test("a failed build keeps its exit code, a failed upload has its own", async () => {
    expect((await run(ackAtOnce, { buildExitCode: 1 })).report).toMatchObject({ exitCode: 1 });
    const failed = await run(failAt(1, statusCode.failedPrecondition), { buildExitCode: 1 });
    expect(failed.report).toMatchObject({ exitCode: 45 });
  });

  test("a recording is played under other names", async () => {
    const recording = readStream(getRun("bazel7-test-ok"), 1);
    const { report, server } = await run(ackAtOnce, { build: { recording } });
    expect(report).toMatchObject({ exitCode: 0, acked: recording.length });
    expect(server.received[0]?.length).toBe(recording.length);
  });

  test("every call carries the API key", async () => {
    const { server } = await run(ackAtOnce, { apiKey: "millrace_1_secret" });
    expect(server.apiKeys).toEqual(Array(5).fill("millrace_1_secret"));
  });

  test("hooks see every event before it is sent and every ack", async () => {
    const seen: number[] = [];
    const acked: number[] = [];
    await run(ackAtOnce, {
      beforeEvent: (sequence) => void seen.push(sequence),
      onAck: (sequence) => void acked.push(sequence),
    });
    expect(seen).toEqual(all);
    expect(acked).toEqual(all);
  });

  test("without lifecycle events the stream is all", async () => {
    const { report, server } = await run(ackAtOnce, { lifecycle: false });
    expect(report).toMatchObject({ exitCode: 0, lifecycleCalls: [] });
    expect(server.lifecycleCalls).toBe(0);
  });
});
