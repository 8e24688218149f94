import { delay, systemClock } from "@millrace/base/clock";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tool } from "../tools.ts";
import { type BazelWorkspace, openBazelWorkspace } from "./bazel.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { startEventTap, type TapAction } from "./event-tap.ts";
import { difference, exportPayloads, readAttempts } from "./stored.ts";
import { waitFor } from "./wait-for.ts";

const bazel = await tool("bazel");
const outageMs = 60_000;

describe.skipIf(bazel.kind === "missing")("real Bazel", () => {
  let cluster: Cluster;
  let workspace: BazelWorkspace;
  let undisturbedExitCode: number;
  const args = ["-k", "//:all", "--nocache_test_results"];

  beforeAll(async () => {
    if (bazel.kind === "missing") return;
    [cluster, workspace] = await Promise.all([startCluster(), openBazelWorkspace(bazel)]);
    undisturbedExitCode = (await workspace.run(["test", ...args])).exitCode;
  });
  afterAll(async () => {
    await Promise.all([cluster?.stop(), workspace?.close()]);
  });

  /** Runs a build through the tap and holds it to what an undisturbed one leaves behind. */
  async function buildThrough(actions: readonly TapAction[]): Promise<void> {
    const tap = await startEventTap({
      targetPort: Number(new URL(cluster.addresses.grpcUrl).port),
      actions,
    });
    try {
      const run = await workspace.upload({ port: tap.port, command: "test", args });
      expect(tap.happened()).toBe(actions.length);
      expect(run.exitCode, `${run.output}\n${cluster.log()}`).toBe(undisturbedExitCode);
      await waitFor("the API answers", async () => (await cluster.get("/api/v1/projects")).ok);
      expect(await readAttempts(cluster, run)).toEqual([
        { attempt: 1, status: "succeeded", exitCode: 0, lastSequence: run.events.length + 1 },
      ]);
      expect(difference(await exportPayloads(cluster, run), run.events)).toEqual({
        missing: [],
        surplus: [],
      });
    } finally {
      await tap.close();
    }
  }

  test("the connection is cut at event 20", () => buildThrough([{ atMessage: 20, cut: true }]));

  test.each([
    { what: "both writers, one after the other", kills: { "writer-1": 30, "writer-2": 50 } },
    { what: "the front door", kills: { ingest: 40 } },
    { what: "NATS", kills: { nats: 40 } },
    { what: "PostgreSQL", kills: { postgres: 40 } },
  ])("kill -9: $what", async ({ kills }) => {
    const killed = new Map<string, number>();
    const actions = Object.entries(kills).map(([name, atMessage]) => ({
      atMessage,
      run: () => void killed.set(name, cluster.kill(name, "SIGKILL")),
    }));
    await buildThrough(actions);
    for (const [name, pid] of killed) await cluster.waitForSuccessor(name, pid);
  });

  test("a worker thread dies", async () => {
    let answer: Promise<Response> | undefined;
    const crash = () => {
      answer = fetch(`${cluster.addresses.opsUrl}/debug/crash-thread/0`, { method: "POST" });
    };
    await buildThrough([{ atMessage: 40, run: crash }]);
    expect((await answer)?.status).toBe(202);
  });

  test("PostgreSQL is away for a minute", async () => {
    let back: Promise<void> | undefined;
    const stall = () => {
      const thaw = cluster.freeze("postgres");
      back = delay(systemClock, outageMs).then(thaw);
    };
    await buildThrough([{ atMessage: 40, run: stall }]);
    await back;
  });
});
