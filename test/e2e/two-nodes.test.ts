import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { lifecyclePath } from "../model/fake-bazel/bes-channel.ts";
import { type FakeBazelReport, runFakeBazel } from "../model/fake-bazel/fake-bazel.ts";
import { openGrpcChannel } from "../model/fake-bazel/grpc-channel.ts";
import { encodeLifecycle } from "../model/fake-bazel/requests.ts";
import { tool } from "../tools.ts";
import { openBazelWorkspace } from "./bazel.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { startEventTap } from "./event-tap.ts";
import { startMovingRelay } from "./moving-relay.ts";
import { printingBuild } from "./payloads.ts";
import { asSet, difference, exportPayloads, readAttempts } from "./stored.ts";
import { waitFor } from "./wait-for.ts";

const bazel = await tool("bazel");
let first: Cluster;
let second: Cluster;

beforeAll(async () => {
  first = await startCluster();
  second = await startCluster({ besides: first });
});
afterAll(async () => {
  await second?.stop();
  await first?.stop();
});

const portOf = (cluster: Cluster): number => Number(new URL(cluster.addresses.grpcUrl).port);

/** What both nodes say of an invocation: its status and its events. */
async function expectOnBothNodes(
  which: { invocationId: string; project?: string },
  payloads: readonly Uint8Array[],
): Promise<void> {
  const { project = "default", invocationId } = which;
  for (const node of [first, second]) {
    const answer = await node.get(`/api/v1/projects/${project}/invocations/${invocationId}`);
    expect(await answer.json()).toMatchObject({ invocationId, status: "succeeded" });
    expect(difference(await exportPayloads(node, which), payloads)).toEqual({ missing: [], surplus: [] });
  }
}

test.skipIf(bazel.kind === "missing")(
  "real Bazel's stream breaks on one node and goes on at the other",
  async () => {
    if (bazel.kind === "missing") return;
    let target = first;
    const tap = await startEventTap({
      targetPort: () => portOf(target),
      actions: [
        {
          atMessage: 40,
          cut: true,
          run: () => {
            target = second;
          },
        },
      ],
    });
    const workspace = await openBazelWorkspace(bazel);
    try {
      const run = await workspace.upload({ port: tap.port, command: "build", args: ["//:all"] });
      expect([run.exitCode, tap.happened()], run.output).toEqual([0, 1]);
      expect(await readAttempts(first, run)).toMatchObject([
        { attempt: 1, status: "succeeded", lastSequence: run.events.length + 1 },
      ]);
      await expectOnBothNodes(run, run.events);
    } finally {
      await Promise.all([workspace.close(), tap.close()]);
    }
  },
);

/** Uploads through a relay that leads to another node as soon as some events are acked and some are not. */
async function uploadMoving(upload: {
  names: { buildId: string; invocationId: string };
  payloads: readonly Uint8Array[];
  from: Cluster;
  to: Cluster;
}): Promise<FakeBazelReport> {
  const relay = await startMovingRelay(upload.from.grpcAddress);
  const moveAt = Math.floor(upload.payloads.length / 2);
  let acked = 0;
  try {
    return await runFakeBazel({
      ...upload.names,
      address: relay.address,
      build: { payloads: upload.payloads },
      transport: "http2",
      lifecycle: false,
      onAck: (sequence) => {
        acked = sequence;
      },
      beforeEvent: async (sequence) => {
        if (sequence !== moveAt) return;
        await waitFor("a first ack", () => acked > 0);
        relay.moveTo(upload.to.grpcAddress);
      },
    });
  } finally {
    await relay.close();
  }
}

test("a stream moves with batches in flight, and its lifecycle calls go to the other node", async () => {
  const names = { buildId: randomUUID(), invocationId: randomUUID(), projectId: "", keywords: [] };
  const payloads = printingBuild("moving", 3_000);
  const other = await openGrpcChannel(second.grpcAddress, { cuttable: false });
  const call = async (step: Parameters<typeof encodeLifecycle>[0]) => {
    const message = encodeLifecycle(step, { names, nowMs: 1_700_000_000_000, result: 1 });
    return (await other.call({ path: lifecyclePath, message, headers: {}, deadlineMs: 30_000 })).code;
  };
  try {
    expect([await call("build-enqueued"), await call("attempt-started")]).toEqual([0, 0]);
    const report = await uploadMoving({ names, payloads, from: first, to: second });
    expect(report).toMatchObject({ exitCode: 0, message: "", acked: payloads.length + 1 });
    expect(report.streams.length).toBeGreaterThanOrEqual(2);
    expect([await call("attempt-finished"), await call("build-finished")]).toEqual([0, 0]);
  } finally {
    await other.close();
  }
  expect(await readAttempts(first, names)).toMatchObject([
    { attempt: 1, status: "succeeded", lastSequence: payloads.length + 1 },
  ]);
  await expectOnBothNodes(names, payloads);
});

test("two uploaders of one invocation on two nodes, each moving to the other, make two attempts", async () => {
  const invocationId = randomUUID();
  const builds = [printingBuild("one", 2_000), printingBuild("two", 2_000)] as const;
  const reports = await Promise.all([
    uploadMoving({ names: { buildId: "b-1", invocationId }, payloads: builds[0], from: first, to: second }),
    uploadMoving({ names: { buildId: "b-2", invocationId }, payloads: builds[1], from: second, to: first }),
  ]);
  expect(reports).toMatchObject([
    { exitCode: 0, message: "" },
    { exitCode: 0, message: "" },
  ]);
  expect(await readAttempts(first, { invocationId })).toMatchObject([
    { attempt: 1, status: "succeeded", lastSequence: 2_001 },
    { attempt: 2, status: "succeeded", lastSequence: 2_001 },
  ]);
  const stored = [
    asSet(await exportPayloads(first, { invocationId, attempt: 1 })),
    asSet(await exportPayloads(second, { invocationId, attempt: 2 })),
  ];
  for (const build of builds) expect(stored).toContainEqual(asSet(build));
});

test("one invocation id in two projects is two invocations", async () => {
  const invocationId = randomUUID();
  const uploads = [
    { project: "red", node: first, payloads: printingBuild("red", 50) },
    { project: "blue", node: second, payloads: printingBuild("blue", 60) },
  ];
  for (const { project } of uploads) {
    await first.database.sql.unsafe("insert into projects (id, name) values ($1, $1)", [project]);
    await first.database.sql.unsafe(
      "insert into api_keys (id, project_id, key_sha256, scopes) values ($1, $1, $2, '{ingest,read}')",
      [project, createHash("sha256").update(`key-of-${project}`).digest()],
    );
  }
  const reports = await Promise.all(
    uploads.map(({ project, node, payloads }) =>
      runFakeBazel({
        address: node.grpcAddress,
        build: { payloads },
        buildId: "the-same",
        invocationId,
        apiKey: `key-of-${project}`,
      }),
    ),
  );
  expect(reports).toMatchObject([{ exitCode: 0 }, { exitCode: 0 }]);
  for (const { project, payloads } of uploads) {
    expect(await readAttempts(first, { project, invocationId })).toMatchObject([
      { attempt: 1, status: "succeeded", lastSequence: payloads.length + 1 },
    ]);
    await expectOnBothNodes({ project, invocationId }, payloads);
  }
  expect(await readAttempts(first, { invocationId })).toEqual([]);
});
