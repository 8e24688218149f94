import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { silentLog } from "@millrace/base/log";
import { factChannel, factSubjectsOfProject } from "@millrace/proto/channels";
import { connectBus, type NatsBus } from "@millrace/proto/nats-bus";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tool } from "../tools.ts";
import { type BazelWorkspace, openBazelWorkspace } from "./bazel.ts";
import { type Builder, startBuilder } from "./builder.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { runMillrace } from "./millrace-command.ts";
import { waitFor } from "./wait-for.ts";

const bazel = await tool("bazel");

interface Fact {
  readonly type: string;
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
}

describe.skipIf(bazel.kind === "missing")("a queue whose builds stream into Millrace itself", () => {
  let directory: string;
  let cluster: Cluster;
  let workspace: BazelWorkspace;
  let builder: Builder;
  let bus: NatsBus;
  const facts: Fact[] = [];

  beforeAll(async () => {
    if (bazel.kind === "missing") return;
    directory = await mkdtemp(path.join(tmpdir(), "millrace-signal-"));
    const file = path.join(directory, "queues.json");
    await writeFile(file, JSON.stringify({ queues: {} }));
    const environment = { MILLRACE_SIGNAL_CONFIG: file };
    [cluster, workspace] = await Promise.all([startCluster({ environment }), openBazelWorkspace(bazel)]);
    builder = await startBuilder({ workspace, cluster });
    bus = await connectBus({ servers: cluster.addresses.natsUrl, name: "e2e", log: silentLog });
    bus.subscribe(factChannel, factSubjectsOfProject("default"), (fact) => void facts.push(fact as Fact));
    await configure();
  });
  afterAll(async () => {
    builder?.close();
    await bus?.close();
    await Promise.all([cluster?.stop(), workspace?.close()]);
    await rm(directory, { recursive: true, force: true });
  });

  /** The addresses are known only now; so the queue is made by the command, as an operator would. */
  async function configure(): Promise<void> {
    const server = `http://127.0.0.1:${new URL(cluster.addresses.httpUrl).port}`;
    const config = path.join(directory, "trunk.json");
    const runner = { kind: "millrace", server, start: builder.start };
    const cadence = { accepted_ms: 200, running_ms: 200 };
    await writeFile(config, JSON.stringify({ runner, cadence, gate_wait_delay_ms: 200 }));
    expect(await change("configure", "trunk", config, "--version", "0")).toBe("Done: version 1.\n");
  }

  async function millrace(...args: string[]): Promise<string> {
    const { exitCode, out, err } = await runMillrace("signal", ...args);
    expect({ exitCode, err }, `${out}\n${cluster.log()}`).toEqual({ exitCode: 0, err: "" });
    return out;
  }
  const change = (...args: string[]) => millrace(...args, "--nats-url", cluster.addresses.natsUrl);
  const show = (...args: string[]) => millrace(...args, "--server", cluster.addresses.httpUrl);
  const announce = async (commit: string) =>
    (await change("ingest", "trunk", `repo@${commit}`)).split(" ")[0] ?? "";

  const greenness = async (commit: string) => {
    const answer = await cluster.get(
      `/api/v1/queues/trunk/greenness?uri=${encodeURIComponent(`repo@${commit}`)}`,
    );
    return (await answer.json()) as Record<string, unknown>;
  };
  const becomes = (commit: string, expected: Record<string, unknown>) =>
    waitFor(`${commit} is ${JSON.stringify(expected)}`, async () => {
      const now = await greenness(commit);
      return Object.entries(expected).every(([key, value]) => now[key] === value) ? now : undefined;
    });
  const told = (type: string, uri: string) =>
    waitFor(`${type} of ${uri} is told`, () =>
      facts.find((fact) => fact.type === `millrace.signal.${type}` && fact.data["uri"] === uri),
    );

  test("turns a commit green whose tests pass: the API says so, NATS tells it, the command shows it", async () => {
    const requestId = await announce("0000001");
    expect(requestId).toBe("request/trunk/1");
    await becomes("0000001", { greenness: "green", requestId, lastGreenUri: "repo@0000001" });
    expect((await told("commit-green", "repo@0000001")).data).toMatchObject({ requestId, degree: 0 });
    expect(await show("requests", "trunk")).toContain("succeeded (green)");
    expect(await show("queues")).toMatch(/^trunk +default +millrace +0\/\? +0 +0 +repo@0000001$/m);
    const history = JSON.parse(await show("show", "trunk/1", "--json"));
    expect(history.log.map((line: { to: string }) => line.to)).toEqual([
      "accepted",
      "processing",
      "succeeded",
    ]);
    const invocation = `/api/v1/projects/default/invocations/${history.build.invocationId}`;
    expect(await (await cluster.get(invocation)).json()).toMatchObject({ status: "succeeded" });
  });

  test("turns a commit broken whose tests fail, and keeps the last green one", async () => {
    await announce("0000002");
    await becomes("0000002", { greenness: "not_green", reason: "broken", lastGreenUri: "repo@0000001" });
    expect((await told("commit-broken", "repo@0000002")).data).toMatchObject({ degree: 1 });
  });

  test("gives a build up at its deadline when its Bazel was killed, and says nothing about the commit", async () => {
    const server = Number((await workspace.run(["info", "server_pid"])).output.trim().split("\n")[0]);
    const requestId = await announce("0000004");
    await waitFor(
      "its build runs",
      async () =>
        (
          await cluster.database
            .sql`select 1 from signal_builds where request_id = ${requestId} and status = 'running'`
        ).length > 0,
    );
    process.kill(server, "SIGKILL");
    await builder.runs.at(-1);
    expect(await greenness("0000004")).toMatchObject({ greenness: "not_green", reason: "in_progress" });
    await cluster.database.sql`update signal_builds set deadline_at = now() where request_id = ${requestId}`;
    await becomes("0000004", { greenness: "not_green", reason: "timed_out" });
    expect((await told("no-verdict", "repo@0000004")).data).toMatchObject({ reason: "timed_out" });
    expect(await show("queues")).toMatch(/^trunk +default +millrace +0\//m);
  });

  test("admits nothing while it is stopped; what waits can be cancelled and announced again", async () => {
    expect(await change("stop", "trunk", "--reason", "repairs")).toBe("Done.\n");
    const waiting = await announce("0000003");
    expect(await show("queues")).toMatch(/ 0\/\? +1 +0 .*stopped since .*: repairs$/m);
    expect(await change("cancel", waiting.slice("request/".length))).toBe(`${waiting}  cancelled\n`);
    expect(await greenness("0000003")).toMatchObject({ reason: "cancelled_by_operator" });
    const again = await announce("0000003");
    expect(again).not.toBe(waiting);
    expect(await change("start", "trunk")).toBe("Done.\n");
    await becomes("0000003", { greenness: "not_green", reason: "broken", requestId: again });
  });

  test("says in a sentence what cannot be done", async () => {
    const at = ["--nats-url", cluster.addresses.natsUrl];
    const refused = async (...args: string[]) => (await runMillrace("signal", ...args)).err;
    expect(await refused("redrive", "99", ...at)).toBe(
      "millrace signal redrive: there is no dead letter 99.\n",
    );
    expect(await refused("ingest", "other", "x", ...at)).toBe(
      'millrace signal ingest: the queue "other" is not configured.\n',
    );
    expect(await refused("stop", ...at)).toContain("say which: a QUEUE, or --stage STAGE");
    expect(await refused("show", "nonsense")).toContain('"nonsense" names no request: write QUEUE/NUMBER.');
    expect(await refused("queus")).toContain("Did you mean queues?");
    expect(await show("letters")).toBe("There are no such dead letters.\n");
  });
});
