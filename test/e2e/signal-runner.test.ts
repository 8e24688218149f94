import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "@millrace/base/clock";
import { silentLog } from "@millrace/base/log";
import { systemRandom } from "@millrace/base/random";
import type { BuildObservation, BuildRunner, TriggeredBuild } from "@millrace/buildsignal/runner";
import { millraceRunnerKind } from "@millrace/buildsignal/runners/millrace";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tool } from "../tools.ts";
import { type BazelRun, type BazelWorkspace, openBazelWorkspace } from "./bazel.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { waitFor } from "./wait-for.ts";

const bazel = await tool("bazel");
const signal = new AbortController().signal;

/** What is to be built of which commit. */
const commands: Readonly<Record<string, readonly string[]>> = {
  "0000001": ["test", "//:pass_test"],
  "0000002": ["test", "//bad:all", "-k", "--test_timeout=3,3,3,3"],
  "0000003": ["build", "//loaderr:all"],
  "0000004": ["build", "//slow:sleep"],
};

/** Starts Bazel when it is asked to, as a machine that builds for Millrace would. */
class Builder {
  readonly server: Server = createServer((request, response) => void this.answer(request, response));
  readonly runs: Promise<BazelRun>[] = [];
  private readonly clients = new Map<string, ChildProcess>();
  private readonly at: { workspace: BazelWorkspace; cluster: Cluster };

  constructor(at: { workspace: BazelWorkspace; cluster: Cluster }) {
    this.at = at;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const piece of request) body += piece;
    if (request.method === "POST") this.build(JSON.parse(body));
    else this.clients.get(request.url?.split("/").at(-1) ?? "")?.kill("SIGINT");
    response.writeHead(202).end();
  }

  private build(wanted: { commit: string; id: string }): void {
    const [command = "", ...args] = commands[wanted.commit] ?? [];
    const flags = [`--invocation_id=${wanted.id}`, `--bes_backend=grpc://${this.at.cluster.grpcAddress}`];
    const onStart = (client: ChildProcess) => void this.clients.set(wanted.id, client);
    this.runs.push(this.at.workspace.run([command, ...flags, ...args], onStart));
  }
}

describe.skipIf(bazel.kind === "missing")("builds of the runner that is Millrace itself", () => {
  let cluster: Cluster;
  let workspace: BazelWorkspace;
  let builder: Builder;
  let runner: BuildRunner;

  beforeAll(async () => {
    if (bazel.kind === "missing") return;
    [cluster, workspace] = await Promise.all([startCluster(), openBazelWorkspace(bazel)]);
    builder = new Builder({ workspace, cluster });
    builder.server.listen(0, "127.0.0.1");
    await once(builder.server, "listening");
    const config = millraceRunnerKind.config.parse({
      kind: "millrace",
      server: `http://127.0.0.1:${new URL(cluster.addresses.httpUrl).port}`,
      start: {
        kind: "http",
        base_url: `http://127.0.0.1:${(builder.server.address() as AddressInfo).port}`,
        request: { method: "POST", path: "builds", body: { commit: "{head_commit}", id: "{invocation_id}" } },
        cancel: { method: "DELETE", path: "builds/{invocation_id}" },
      },
      disconnected_ms: 0,
    });
    const world = { clock: systemClock, random: systemRandom, log: silentLog, secret: () => undefined };
    runner = millraceRunnerKind.create(config, world);
  });
  afterAll(async () => {
    builder?.server.closeAllConnections();
    builder?.server.close();
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
