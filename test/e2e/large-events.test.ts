import { randomUUID } from "node:crypto";
import { every, systemClock } from "@millrace/base/clock";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runFakeBazel } from "../model/fake-bazel/fake-bazel.ts";
import { runChildClient } from "./child-client.ts";
import { type Cluster, residentBytes, startCluster } from "./cluster.ts";
import { printingBuild } from "./payloads.ts";
import { readAttempts } from "./stored.ts";

const count = 20;
const eventBytes = 97 * 1024 * 1024;
const growthBytesMax = 1.5 * 1024 ** 3;
/** Says that others are served at all; how fast is for the benchmark to say. */
const ackMsMax = 10_000;
const sampleDelayMs = 100;
const gapMs = 20;

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(async () => {
  await cluster?.stop();
});

/** Of our own processes and NATS, in bytes. */
async function residentSum(): Promise<number> {
  const pids = Object.entries(cluster.pids()).filter(([name]) => name !== "postgres");
  const sizes = await Promise.all(pids.map(([, pid]) => residentBytes(pid)));
  return sizes.reduce((sum, size) => sum + size, 0);
}

function* until(isOver: () => boolean): Generator<Uint8Array> {
  const payloads = printingBuild("paced", 1_000);
  for (let at = 0; !isOver(); at += 1) yield payloads[1 + (at % 998)] ?? new Uint8Array(0);
}

test("20 streams with an event of 97 MB each: all are acked in bounded memory, others go on", async () => {
  const idleBytes = await residentSum();
  let peakBytes = idleBytes;
  let isOver = false;
  const stopSampling = every(systemClock, sampleDelayMs, async () => {
    peakBytes = Math.max(peakBytes, await residentSum());
  });
  const invocationId = randomUUID();
  const paced = runFakeBazel({
    address: cluster.grpcAddress,
    build: { payloads: until(() => isOver) },
    buildId: "paced",
    invocationId,
    transport: "http2",
    gapMs,
  });
  const large = await runChildClient("large-streams.client.ts", {
    address: cluster.grpcAddress,
    count,
    bytes: eventBytes,
  }).finally(() => {
    isOver = true;
  });
  const report = await paced;
  stopSampling();
  expect(large, cluster.log()).toEqual({ acked: 3 * count, failures: [] });
  expect(report).toMatchObject({ exitCode: 0, message: "", streams: [1] });
  const latencies = report.ackLatenciesMs.toSorted((a, b) => a - b);
  const p99 = latencies[Math.floor(latencies.length * 0.99)] ?? 0;
  const growth = peakBytes - idleBytes;
  process.stdout.write(
    `grew by ${Math.round(growth / 2 ** 20)} MiB; p99 of ${latencies.length} acks: ${Math.round(p99)} ms\n`,
  );
  expect(growth).toBeLessThan(growthBytesMax);
  expect(p99).toBeLessThan(ackMsMax);
  for (let index = 0; index < count; index += 1) {
    const attempts = await readAttempts(cluster, { invocationId: `large-${index}` });
    expect(attempts).toMatchObject([{ attempt: 1, lastSequence: 3 }]);
  }
});
