import { afterAll, beforeAll, expect, test } from "vitest";
import { type CorpusRun, listRuns, readInvocations } from "../model/corpus.ts";
import { decodeEvent, decodeRequest } from "../model/decode.ts";
import { runFakeBazel } from "../model/fake-bazel/fake-bazel.ts";
import { endsStream } from "../model/fake-bazel/requests.ts";
import { reduceEvents } from "../model/reduce.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { exportPayloads, readAttempts } from "./stored.ts";

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(async () => {
  await cluster?.stop();
});

/** Sends one recorded stream as Bazel did; FakeBazel fails unless each event is acked once and in order. */
async function send(
  requests: readonly Buffer[],
  of: { run: CorpusRun; invocationId: string },
): Promise<void> {
  const { run, invocationId } = of;
  const report = await runFakeBazel({
    address: cluster.grpcAddress,
    build: { recording: requests },
    buildId: `build-of-${invocationId}`,
    invocationId,
    buildExitCode: run.exitCode ?? 0,
  });
  expect(report, cluster.log()).toMatchObject({
    streams: [1],
    sent: requests.length,
    acked: requests.length,
    // Bazel never closes its side of a stream that has no end; what it is told then is no matter of its exit code.
    ...(endsStream(requests) ? { message: "", exitCode: run.exitCode ?? 0 } : {}),
  });
}

test.concurrent.each(listRuns().map((run) => [run.name, run] as const))(
  "%s is acked and exported",
  async (_, run) => {
    const invocations = readInvocations(run).filter((requests) => requests.length > 0);
    for (const [index, requests] of invocations.entries()) {
      const invocationId = `${run.name}-${index}`;
      await send(requests, { run, invocationId });
      expect(await readAttempts(cluster, { invocationId })).toMatchObject([
        { attempt: 1, lastSequence: requests.length },
      ]);
      const events = requests.map((request) => decodeRequest(request).event);
      const exported = await exportPayloads(cluster, { invocationId });
      const payloads = events.flatMap((event) => {
        const content = decodeEvent(event);
        return content.kind === "bazel" ? [content.payload] : [];
      });
      expect(exported.length).toBe(payloads.length);
      for (const [at, payload] of payloads.entries()) {
        expect(exported[at]?.equals(payload), `payload ${at + 1}`).toBe(true);
      }
      const expected = reduceEvents(events.map((event, at) => ({ sequence: at + 1, event })));
      const log = await cluster.get(`/api/v1/projects/default/invocations/${invocationId}/log`);
      expect(Buffer.from(await log.arrayBuffer()).equals(expected.log)).toBe(true);
    }
  },
);
