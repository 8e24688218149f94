import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { statusCode } from "../model/fake-bazel/bes-channel.ts";
import { runFakeBazel } from "../model/fake-bazel/fake-bazel.ts";
import { runChildClient } from "./child-client.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { type OddStream, openOddStream, requestOf } from "./odd-stream.ts";
import { printingBuild } from "./payloads.ts";
import { asSet, exportPayloads, readAttempts } from "./stored.ts";
import { waitFor } from "./wait-for.ts";

const payloads = printingBuild("odd", 10);
const garbage = Buffer.from("this is no protobuf message \xff\xff\xff", "latin1");
const ofFirst = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

let cluster: Cluster;
let endless: OddStream;
const endlessId = randomUUID();

beforeAll(async () => {
  cluster = await startCluster();
  endless = openOddStream(cluster.grpcAddress);
  endless.send(...ofFirst(3).map((sequence) => event(endlessId, sequence)));
});
afterAll(async () => {
  await endless?.close();
  await cluster?.stop();
});

function event(invocationId: string, sequence: number): Buffer {
  return requestOf({ invocationId, sequence, payload: payloads[sequence - 1] ?? new Uint8Array(0) });
}

/** Sends five good events, waits for their acks, then sends something odd; answers what came of it. */
async function afterFive(odd: (invocationId: string) => Uint8Array) {
  const invocationId = randomUUID();
  const stream = openOddStream(cluster.grpcAddress);
  try {
    stream.send(...ofFirst(5).map((sequence) => event(invocationId, sequence)));
    await stream.waitForAcks(5);
    stream.send(odd(invocationId));
    const { code } = await stream.ended();
    const [attempt] = await readAttempts(cluster, { invocationId });
    return { code, acks: stream.acks, stored: attempt?.lastSequence };
  } finally {
    await stream.close();
  }
}

describe("a message that no stream may hold ends it, and what was acked stays", () => {
  test.each([
    { what: "garbage", odd: () => garbage, code: statusCode.invalidArgument },
    { what: "number 0", odd: (id: string) => event(id, 0), code: statusCode.invalidArgument },
    { what: "a negative number", odd: (id: string) => event(id, -1), code: statusCode.invalidArgument },
    { what: "a skipped number", odd: (id: string) => event(id, 7), code: statusCode.failedPrecondition },
  ])("$what", async ({ odd, code }) => {
    expect(await afterFive(odd)).toEqual({ code, acks: ofFirst(5), stored: 5 });
  });

  test.each([
    { what: "garbage", odd: () => garbage },
    { what: "number 0", odd: (id: string) => event(id, 0) },
    { what: "a negative number", odd: (id: string) => event(id, -1) },
  ])("$what as the very first", async ({ odd }) => {
    const invocationId = randomUUID();
    const stream = openOddStream(cluster.grpcAddress);
    try {
      stream.send(odd(invocationId));
      expect(await stream.ended()).toMatchObject({ code: statusCode.invalidArgument });
      expect(await readAttempts(cluster, { invocationId })).toEqual([]);
    } finally {
      await stream.close();
    }
  });
});

test("an event that is committed and sent again is acked again and stored once", async () => {
  const invocationId = randomUUID();
  const stream = openOddStream(cluster.grpcAddress);
  try {
    stream.send(...[1, 2].map((sequence) => event(invocationId, sequence)));
    await stream.waitForAcks(2);
    stream.send(...[2, 1, 3].map((sequence) => event(invocationId, sequence)));
    stream.send(requestOf({ invocationId, sequence: 4 }));
    stream.halfClose();
    expect(await stream.ended()).toMatchObject({ code: statusCode.ok });
    expect([...stream.acks].sort()).toEqual([1, 1, 2, 2, 3, 4]);
    expect(await readAttempts(cluster, { invocationId })).toMatchObject([{ attempt: 1, lastSequence: 4 }]);
    expect(asSet(await exportPayloads(cluster, { invocationId }))).toEqual(asSet(payloads.slice(0, 3)));
  } finally {
    await stream.close();
  }
});

test("events of other types and events that do not decode are acked and stored", async () => {
  const invocationId = randomUUID();
  const stream = openOddStream(cluster.grpcAddress);
  try {
    stream.send(
      event(invocationId, 1),
      requestOf({ invocationId, sequence: 2, payload: garbage, typeUrl: "type.googleapis.com/other.Thing" }),
      requestOf({ invocationId, sequence: 3, payload: garbage }),
      requestOf({ invocationId, sequence: 4, payload: garbage, typeUrl: "" }),
      requestOf({ invocationId, sequence: 5 }),
    );
    stream.halfClose();
    expect(await stream.ended()).toMatchObject({ code: statusCode.ok });
    expect(stream.acks).toEqual(ofFirst(5));
    expect(await readAttempts(cluster, { invocationId })).toMatchObject([{ attempt: 1, lastSequence: 5 }]);
  } finally {
    await stream.close();
  }
});

test("20,000 events in a burst", async () => {
  const burst = printingBuild("burst", 20_000);
  const invocationId = randomUUID();
  const report = await runFakeBazel({
    address: cluster.grpcAddress,
    build: { payloads: burst },
    buildId: "burst",
    invocationId,
    transport: "http2",
  });
  expect(report, cluster.log()).toMatchObject({ exitCode: 0, message: "", streams: [1], acked: 20_001 });
  expect(await readAttempts(cluster, { invocationId })).toMatchObject([
    { attempt: 1, status: "succeeded", lastSequence: 20_001 },
  ]);
});

test("1,000 streams at once, each over a connection of its own", async () => {
  const count = 1_000;
  const answer = await runChildClient("many-streams.client.ts", { address: cluster.grpcAddress, count });
  expect(answer, cluster.log()).toEqual({ acked: count * 6, failures: [] });
  const [row] = await cluster.database.sql.unsafe(
    `select count(*) as builds, sum(last_event_seq)::bigint as events from stream_positions
     where invocation_id like 'many-%' and finished_at is not null`,
  );
  expect({ ...row }).toEqual({ builds: count, events: count * 6 });
});

test("a stream that never ends is acked and stays open through all of this", async () => {
  await endless.waitForAcks(3);
  endless.send(event(endlessId, 4));
  await endless.waitForAcks(4);
  expect([endless.status(), endless.acks]).toEqual([undefined, ofFirst(4)]);
  await waitFor("it is shown as running", async () => {
    const [attempt] = await readAttempts(cluster, { invocationId: endlessId });
    return attempt?.status === "running" && attempt.lastSequence === 4;
  });
});
