import { systemClock } from "@millrace/base/clock";
import { silentLog } from "@millrace/base/log";
import { systemRandom } from "@millrace/base/random";
import type { BuildObservation, BuildRunner, TriggeredBuild } from "@millrace/buildsignal/runner";
import { millraceRunnerKind } from "@millrace/buildsignal/runners/millrace";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tool } from "../tools.ts";
import { type BazelWorkspace, openBazelWorkspace } from "./bazel.ts";
import { type Builder, startBuilder } from "./builder.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { waitFor } from "./wait-for.ts";

const bazel = await tool("bazel");
const signal = new AbortController().signal;

describe.skipIf(bazel.kind === "missing")("builds of the runner that is Millrace itself", () => {
  let cluster: Cluster;
  let workspace: BazelWorkspace;
  let builder: Builder;
  let runner: BuildRunner;

  beforeAll(async () => {
    if (bazel.kind === "missing") return;
    [cluster, workspace] = await Promise.all([startCluster(), openBazelWorkspace(bazel)]);
    builder = await startBuilder({ workspace, cluster });
    const config = millraceRunnerKind.config.parse({
      kind: "millrace",
      server: `http://127.0.0.1:${new URL(cluster.addresses.httpUrl).port}`,
      start: builder.start,
      disconnected_ms: 0,
    });
    const world = { clock: systemClock, random: systemRandom, log: silentLog, secret: () => undefined };
    runner = millraceRunnerKind.create(config, world);
  });
  afterAll(async () => {
    builder?.close();
    await Promise.all([cluster?.stop(), workspace?.close()]);
  });

  const trigger = (commit: string, key = commit): Promise<TriggeredBuild> =>
    runner.trigger(
      { queue: "trunk", project: "default", baseUri: "", headUri: `repo@${commit}`, key, metadata: {} },
      signal,
    );
  const becomes = (build: TriggeredBuild, ...statuses: string[]): Promise<BuildObservation> =>
    waitFor(`the build is ${statuses.join(" or ")}`, async () => {
      const observation = await runner.status(build.buildId, signal);
      return statuses.includes(observation.status) ? observation : undefined;
    });
  const over = ["succeeded", "failed", "cancelled"];

  test("are green when their tests pass, and are started once", async () => {
    const build = await trigger("0000001");
    expect(await becomes(build, ...over)).toMatchObject({ status: "succeeded", providerState: "succeeded" });
    const runs = builder.runs.length;
    expect(await trigger("0000001")).toEqual(build);
    expect(builder.runs).toHaveLength(runs);
  });

  test.each([
    ["their tests fail", "0000002"],
    ["they do not load", "0000003"],
  ])("are broken when %s", async (_, commit) => {
    const observation = await becomes(await trigger(commit), ...over);
    expect(observation).toMatchObject({ status: "failed", providerState: "failed" });
    expect(observation).not.toHaveProperty("noVerdict");
  });

  test("are cancelled by an interrupt of their Bazel", async () => {
    const build = await trigger("0000004");
    await becomes(build, "running");
    await runner.cancel(build.buildId, signal);
    expect(await becomes(build, ...over)).toMatchObject({
      status: "cancelled",
      providerState: "interrupted",
    });
    await builder.runs.at(-1);
  });

  test("have no verdict when their Bazel is killed", async () => {
    const server = Number((await workspace.run(["info", "server_pid"])).output.trim().split("\n")[0]);
    const build = await trigger("0000004", "killed");
    await becomes(build, "running");
    process.kill(server, "SIGKILL");
    await builder.runs.at(-1);
    // Silence is no end: the stream may be taken up again. Five minutes after its connection closed it is swept.
    expect(await runner.status(build.buildId, signal)).toMatchObject({ status: "running" });
    await waitFor("its connection is reported closed", async () => {
      const aged = await cluster.database.sql.unsafe(
        `update stream_positions set disconnected_at = now() - interval '1 hour'
         where invocation_id = $1 and disconnected_at is not null returning 1`,
        [build.metadata?.["invocationId"] ?? ""],
      );
      return aged.length > 0;
    });
    expect(await becomes(build, ...over)).toMatchObject({
      status: "failed",
      providerState: "disconnected",
      noVerdict: "disconnected",
    });
  });
});
