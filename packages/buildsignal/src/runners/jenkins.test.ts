import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { BuildRunner } from "../runner.ts";
import {
  BuildServer,
  commit,
  key,
  neverAborted,
  type Reply,
  request,
  reset,
  runnerWorld,
  token,
} from "./build-server.fixture.ts";
import { jenkinsRunnerKind } from "./jenkins.ts";

let server: BuildServer;
const job = "/ci/job/team/job/trunk";
const item39 = "/ci/queue/item/39/api/json";
let waitingId: string;
let builtId: string;

beforeEach(async () => {
  server = await BuildServer.start();
  const { host } = new URL(server.url);
  waitingId = `jenkins/${host}/team/trunk/queue/39`;
  builtId = `jenkins/${host}/team/trunk/build/35`;
});
afterEach(() => server.close());

function runner(more: Readonly<Record<string, unknown>> = {}): BuildRunner {
  const named = { kind: "jenkins", job: "team/trunk", user: "millrace", token_secret: "ci-token" };
  const config = {
    ...named,
    parameters: { COMMIT: "{head_commit}" },
    base_url: `${server.url}/ci/`,
    ...more,
  };
  return jenkinsRunnerKind.create(jenkinsRunnerKind.config.parse(config), runnerWorld());
}
const keyed = { key_parameter: "MILLRACE_KEY" };

/** Jenkins names its own root in `Location`, which need not be the one that we use. */
const queued = { status: 201, headers: { location: "http://jenkins.internal:8080/ci/queue/item/39/" } };
const actions = (key: string) => [
  {},
  {
    _class: "hudson.model.ParametersAction",
    parameters: [
      { _class: "hudson.model.StringParameterValue", name: "COMMIT", value: commit },
      { _class: "hudson.model.StringParameterValue", name: "MILLRACE_KEY", value: key },
    ],
  },
  { _class: "hudson.model.CauseAction" },
];
const item = (kind: string, more: Readonly<Record<string, unknown>> = {}): Reply => ({
  json: { _class: `hudson.model.Queue$${kind}`, blocked: false, id: 39, stuck: false, ...more },
});
const executable = { _class: "org.jenkinsci.plugins.workflow.job.WorkflowRun", number: 35 };
const build = (more: Readonly<Record<string, unknown>>): Reply => ({
  json: {
    _class: "org.jenkinsci.plugins.workflow.job.WorkflowRun",
    building: false,
    inProgress: false,
    number: 35,
    result: null,
    url: "http://jenkins.internal:8080/ci/job/team/job/trunk/35/",
    ...more,
  },
});
const inQueue = (...items: unknown[]): Reply => ({ json: { _class: "hudson.model.Queue", items } });
const waiting = (id: number, key: string, of = "team/job/trunk") => ({
  _class: "hudson.model.Queue$BlockedItem",
  actions: actions(key),
  id,
  task: {
    _class: "org.jenkinsci.plugins.workflow.job.WorkflowJob",
    url: `http://jenkins.internal:8080/ci/job/${of}/`,
  },
});
const ofJob = (...allBuilds: unknown[]): Reply => ({
  json: { _class: "org.jenkinsci.plugins.workflow.job.WorkflowJob", allBuilds },
});

describe("trigger", () => {
  test("posts the parameters and answers the place in the queue", async () => {
    server.on({ method: "POST", path: `${job}/buildWithParameters` }, queued);
    expect(await runner().trigger(request, neverAborted)).toEqual({ buildId: waitingId });
    const [post] = server.seen;
    expect(post?.body).toBe(`COMMIT=${commit}`);
    expect(post?.headers["content-type"]).toBe("application/x-www-form-urlencoded");
    expect(post?.headers.authorization).toBe(`Basic ${btoa(`millrace:${token}`)}`);
  });

  test("of a job without parameters is plain", async () => {
    server.on({ method: "POST", path: `${job}/build` }, queued);
    expect(await runner({ parameters: {} }).trigger(request, neverAborted)).toEqual({ buildId: waitingId });
  });

  test("without a place in the queue the build is in doubt", async () => {
    server.on({ method: "POST", path: `${job}/buildWithParameters` }, { status: 201 });
    await expect(runner().trigger(request, neverAborted)).rejects.toMatchObject({ kind: "uncertain" });
  });

  test("a redirect to the job's page is a refusal", async () => {
    server.on(
      { method: "POST", path: `${job}/buildWithParameters` },
      { status: 302, headers: { location: job } },
    );
    await expect(runner().trigger(request, neverAborted)).rejects.toMatchObject({ kind: "invalid" });
  });

  test("with a key answers the waiting build that carries it and starts none", async () => {
    const others = [waiting(37, "another"), waiting(38, key, "other/job/trunk")];
    server.on({ path: "/ci/queue/api/json" }, inQueue(...others, waiting(39, key)));
    expect((await runner(keyed).trigger(request, neverAborted)).buildId).toBe(waitingId);
    expect(server.of("POST")).toEqual([]);
  });

  test("with a key answers the started build that carries it and starts none", async () => {
    server.on({ path: "/ci/queue/api/json" }, inQueue());
    const builds = [
      { number: 36, queueId: 41, actions: actions("another") },
      { number: 35, queueId: 39, actions: actions(key) },
    ];
    server.on({ path: `${job}/api/json` }, ofJob(...builds));
    expect((await runner(keyed).trigger(request, neverAborted)).buildId).toBe(builtId);
    expect(server.of("POST")).toEqual([]);
  });

  test.each([
    ["is found after an answer of 500", { status: 500 }],
    ["is found after an answer without a place", { status: 201 }],
  ])("with a key a build %s", async (_, reply) => {
    server.on({ path: "/ci/queue/api/json" }, inQueue(), inQueue(waiting(39, key)));
    server.on({ path: `${job}/api/json` }, ofJob());
    server.on({ method: "POST", path: `${job}/buildWithParameters` }, reply);
    expect((await runner(keyed).trigger(request, neverAborted)).buildId).toBe(waitingId);
    expect(new URLSearchParams(server.of("POST")[0]?.body).get("MILLRACE_KEY")).toBe(key);
    expect(server.of("POST")).toHaveLength(1);
  });

  test("with a key a build whose answer got lost is found at the next try", async () => {
    server.on({ path: "/ci/queue/api/json" }, inQueue(), inQueue(waiting(39, key)));
    server.on({ path: `${job}/api/json` }, ofJob());
    server.on({ method: "POST", path: `${job}/buildWithParameters` }, reset);
    await expect(runner(keyed).trigger(request, neverAborted)).rejects.toMatchObject({ kind: "transient" });
    expect((await runner(keyed).trigger(request, neverAborted)).buildId).toBe(waitingId);
    expect(server.of("POST")).toHaveLength(1);
  });
});

describe("status in the queue", () => {
  test.each([
    ["WaitingItem", {}, "accepted", "queued"],
    ["BlockedItem", { blocked: true }, "accepted", "blocked"],
    ["BuildableItem", {}, "accepted", "queued"],
    ["BuildableItem", { stuck: true }, "accepted", "stuck"],
    ["LeftItem", { cancelled: false, executable: null }, "accepted", "queued"],
    ["LeftItem", { cancelled: true }, "cancelled", "cancelled"],
  ])("of a %s with %j is %s", async (kind, more, status, providerState) => {
    server.on({ path: item39 }, item(kind, more));
    expect(await runner().status(waitingId, neverAborted)).toEqual({ status, providerState });
  });

  test("goes on with the build, whose number is remembered", async () => {
    const asking = runner();
    server.on({ path: item39 }, item("LeftItem", { cancelled: false, executable }));
    server.on({ path: `${job}/35/api/json` }, build({ building: true }), build({ result: "SUCCESS" }));
    expect(await asking.status(waitingId, neverAborted)).toMatchObject({ status: "running" });
    expect(await asking.status(waitingId, neverAborted)).toMatchObject({ status: "succeeded" });
    expect(server.seen.filter((seen) => seen.path.startsWith(item39))).toHaveLength(1);
  });

  test("of a place that Jenkins has forgotten is that of the build that came of it", async () => {
    server.on({ path: `${job}/api/json` }, ofJob({ number: 36, queueId: 41 }, { number: 35, queueId: 39 }));
    server.on({ path: `${job}/35/api/json` }, build({ result: "FAILURE" }));
    expect(await runner().status(waitingId, neverAborted)).toMatchObject({ status: "failed" });
  });

  test("of a place of which nothing is known fails", async () => {
    server.on({ path: `${job}/api/json` }, ofJob({ number: 36, queueId: 41 }));
    await expect(runner().status(waitingId, neverAborted)).rejects.toMatchObject({ kind: "not_found" });
  });
});

test.each([
  [{ building: true }, "running", "building", undefined],
  [{ building: true, result: "FAILURE" }, "running", "building", undefined],
  [{ inProgress: true, result: "SUCCESS" }, "running", "building", undefined],
  [{ result: "SUCCESS" }, "succeeded", "SUCCESS", undefined],
  [{ result: "UNSTABLE" }, "failed", "UNSTABLE", undefined],
  [{ result: "FAILURE" }, "failed", "FAILURE", undefined],
  [{ result: "ABORTED" }, "cancelled", "ABORTED", undefined],
  [{ result: "NOT_BUILT" }, "failed", "NOT_BUILT", "NOT_BUILT"],
  [{ result: "LEVITATED" }, "unknown", "LEVITATED", undefined],
  [{ result: null }, "unknown", "", undefined],
])("status of a build with %j is %s", async (more, status, providerState, noVerdict) => {
  server.on({ path: `${job}/35/api/json` }, build(more));
  expect(await runner().status(builtId, neverAborted)).toEqual({
    status,
    providerState,
    ...(noVerdict === undefined ? {} : { noVerdict }),
    url: "http://jenkins.internal:8080/ci/job/team/job/trunk/35/",
  });
});

describe("cancel", () => {
  const posts = () => server.of("POST").map((seen) => seen.path);

  test.each([200, 204, 302, 404])(
    "of a waiting build takes it from the queue (answer %d)",
    async (status) => {
      server.on({ path: item39 }, item("WaitingItem"), item("LeftItem", { cancelled: true }));
      server.on({ method: "POST", path: "/ci/queue/cancelItem" }, { status, headers: { location: "/ci/" } });
      await runner().cancel(waitingId, neverAborted);
      expect(posts()).toEqual(["/ci/queue/cancelItem?id=39"]);
    },
  );

  test("of a build that starts meanwhile stops it", async () => {
    server.on({ path: item39 }, item("BuildableItem"), item("LeftItem", { executable }));
    server.on({ method: "POST", path: "/ci/queue/cancelItem" }, { status: 204 });
    server.on({ method: "POST", path: `${job}/35/stop` }, { status: 302, headers: { location: "/ci/" } });
    await runner().cancel(waitingId, neverAborted);
    expect(posts()).toEqual(["/ci/queue/cancelItem?id=39", `${job}/35/stop`]);
  });

  test.each([200, 302, 400])("of a build stops it (answer %d)", async (status) => {
    server.on({ method: "POST", path: `${job}/35/stop` }, { status, headers: { location: "/ci/" } });
    await runner().cancel(builtId, neverAborted);
    expect(posts()).toEqual([`${job}/35/stop`]);
  });

  test("of a cancelled one does nothing", async () => {
    server.on({ path: item39 }, item("LeftItem", { cancelled: true }));
    await runner().cancel(waitingId, neverAborted);
    expect(posts()).toEqual([]);
  });

  test("that Jenkins forbids fails", async () => {
    server.on({ method: "POST", path: `${job}/35/stop` }, { status: 403 });
    await expect(runner().cancel(builtId, neverAborted)).rejects.toMatchObject({ kind: "forbidden" });
  });
});

test.each(["/trunk", "team//trunk", "trunk/", ""])("a job named %j is refused", (name) => {
  expect(() => runner({ job: name })).toThrow();
});
