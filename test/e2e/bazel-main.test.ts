import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tool } from "../tools.ts";
import { type BazelUpload, type BazelWorkspace, openBazelWorkspace } from "./bazel.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { startEventTap } from "./event-tap.ts";
import { difference, exportPayloads, readAttempts } from "./stored.ts";

const bazel = await tool("bazel");

describe.skipIf(bazel.kind === "missing")("real Bazel", () => {
  let cluster: Cluster;
  let workspace: BazelWorkspace;

  beforeAll(async () => {
    if (bazel.kind === "missing") return;
    [cluster, workspace] = await Promise.all([startCluster(), openBazelWorkspace(bazel)]);
  });
  afterAll(async () => {
    await Promise.all([cluster?.stop(), workspace?.close()]);
  });

  const port = (): number => Number(new URL(cluster.addresses.grpcUrl).port);

  async function expectStored(run: BazelUpload, status: string): Promise<void> {
    const attempts = await readAttempts(cluster, run);
    expect(attempts, `${run.output}\n${cluster.log()}`).toEqual([
      { attempt: 1, status, exitCode: run.exitCode, lastSequence: run.events.length + 1 },
    ]);
    expect(difference(await exportPayloads(cluster, run), run.events)).toEqual({ missing: [], surplus: [] });
  }

  test.each([
    { what: "tests that pass", command: "test", args: ["-k", "//:all"], status: "succeeded" },
    {
      what: "tests and actions that fail",
      command: "test",
      args: ["-k", "//bad:all", "--test_timeout=3,3,3,3"],
      status: "failed",
    },
    { what: "a package that does not load", command: "build", args: ["//loaderr:all"], status: "failed" },
    {
      what: "a target that cannot be analysed",
      command: "build",
      args: ["//analysis:all"],
      status: "failed",
    },
    { what: "a pattern of nothing", command: "build", args: ["//nosuch:all"], status: "failed" },
    { what: "a program that is run", command: "run", args: ["//:pass_test"], status: "succeeded" },
  ])("$what: exit code as without us, everything is stored", async ({ command, args, status }) => {
    const run = await workspace.upload({ port: port(), command, args });
    expect(run.events.length).toBeGreaterThan(5);
    expect((await workspace.run([command, ...args])).exitCode, run.output).toBe(run.exitCode);
    expect(run.exitCode === 0).toBe(status === "succeeded");
    await expectStored(run, status);
  });

  test("a build that is interrupted", async () => {
    let interrupt = (): void => {};
    const tap = await startEventTap({
      targetPort: port(),
      actions: [{ atMessage: 10, run: () => interrupt() }],
    });
    try {
      const run = await workspace.upload({
        port: tap.port,
        command: "build",
        args: ["//slow:sleep"],
        onStart: (client) => {
          interrupt = () => client.kill("SIGINT");
        },
      });
      expect(run.exitCode, run.output).toBe(8);
      await expectStored(run, "interrupted");
    } finally {
      await tap.close();
    }
  });
});
