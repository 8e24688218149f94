import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { BuildRunner } from "../runner.ts";
import {
  BuildServer,
  commit,
  key,
  neverAborted,
  request,
  reset,
  runnerWorld,
  token,
} from "./build-server.fixture.ts";
import { buildkiteRunnerKind } from "./buildkite.ts";

let server: BuildServer;
let runner: BuildRunner;
const builds = "/v2/organizations/acme/pipelines/mono/builds";

beforeEach(async () => {
  server = await BuildServer.start();
  runner = buildkiteRunnerKind.create(configOf({}), runnerWorld());
});
afterEach(() => server.close());

function configOf(more: Readonly<Record<string, unknown>>) {
  const named = { kind: "buildkite", organization: "acme", pipeline: "mono", token_secret: "ci-token" };
  return buildkiteRunnerKind.config.parse({ ...named, base_url: `${server.url}/v2`, ...more });
}

/** A build as the REST API of Buildkite shows one, without its jobs and pipeline. */
function build(state: string, more: Readonly<Record<string, unknown>> = {}) {
  return {
    id: "f62a1b4d-10f9-4790-bc1c-e2c3a0c80983",
    url: `https://api.buildkite.com${builds}/27`,
    web_url: "https://buildkite.com/acme/mono/builds/27",
    number: 27,
    state,
    cancel_reason: null,
    blocked: false,
    message: `Millrace validates ${commit}`,
    commit,
    branch: "main",
    env: { MILLRACE_METADATA: '{"author":"ada"}', MILLRACE_QUEUE: "trunk" },
    source: "api",
    creator: { id: "3d3c3bf0-7d58-4afe-8fe7-b3017d5504de", name: "Millrace" },
    created_at: "2026-12-01T00:00:00.000Z",
    scheduled_at: "2026-12-01T00:00:00.000Z",
    started_at: null,
    failing_at: null,
    finished_at: null,
    meta_data: { "millrace-key": key },
    pull_request: null,
    rebuilt_from: null,
    ...more,
  };
}

describe("trigger", () => {
  test("looks for the key, then creates the build with commit, variables and key", async () => {
    server.on({ path: builds }, { json: [] });
    server.on({ method: "POST", path: builds }, { status: 201, json: build("creating") });
    expect(await runner.trigger(request, neverAborted)).toEqual({
      buildId: "buildkite/acme/mono/27",
      url: "https://buildkite.com/acme/mono/builds/27",
    });
    const [find, create] = server.seen;
    const query = new URLSearchParams(find?.path.split("?")[1]);
    expect(query.get("meta_data[millrace-key]")).toBe(key);
    expect(create?.headers.authorization).toBe(`Bearer ${token}`);
    expect(JSON.parse(create?.body ?? "")).toEqual({
      commit,
      branch: "main",
      message: `Millrace validates ${commit}`,
      env: {
        MILLRACE_QUEUE: "trunk",
        MILLRACE_HEAD_URI: request.headUri,
        MILLRACE_BASE_URI: "",
        MILLRACE_METADATA: '{"author":"ada"}',
      },
      meta_data: { "millrace-key": key },
    });
  });

  test("takes templates of the configuration, but not for its own variables", async () => {
    const env = { TARGETS: "//{queue}/...", MILLRACE_QUEUE: "mine" };
    const own = configOf({ branch: "{queue}", commit: "HEAD", message: "{key}", env });
    server.on({ path: builds }, { json: [] });
    server.on({ method: "POST", path: builds }, { status: 201, json: build("creating") });
    await buildkiteRunnerKind.create(own, runnerWorld()).trigger(request, neverAborted);
    expect(JSON.parse(server.of("POST")[0]?.body ?? "")).toMatchObject({
      branch: "trunk",
      commit: "HEAD",
      message: key,
      env: { TARGETS: "//trunk/...", MILLRACE_QUEUE: "trunk" },
    });
  });

  test("answers the build that carries the key and starts none", async () => {
    server.on({ path: builds }, { json: [build("running")] });
    expect((await runner.trigger(request, neverAborted)).buildId).toBe("buildkite/acme/mono/27");
    expect(server.of("POST")).toEqual([]);
  });

  test.each([500, 502, 504])("finds the build that was created before an answer of %d", async (status) => {
    server.on({ path: builds }, { json: [] }, { json: [build("scheduled")] });
    server.on({ method: "POST", path: builds }, { status });
    expect((await runner.trigger(request, neverAborted)).buildId).toBe("buildkite/acme/mono/27");
    expect(server.of("POST")).toHaveLength(1);
  });

  test("finds the build of a lost answer at the next try", async () => {
    server.on({ path: builds }, { json: [] }, { json: [build("scheduled")] });
    server.on({ method: "POST", path: builds }, reset);
    await expect(runner.trigger(request, neverAborted)).rejects.toMatchObject({ kind: "transient" });
    expect((await runner.trigger(request, neverAborted)).buildId).toBe("buildkite/acme/mono/27");
    expect(server.of("POST")).toHaveLength(1);
  });

  test("says what Buildkite says about a refusal", async () => {
    server.on({ path: builds }, { json: [] });
    const message = "Branch main has been disabled";
    server.on({ method: "POST", path: builds }, { status: 422, json: { message } });
    await expect(runner.trigger(request, neverAborted)).rejects.toMatchObject({
      kind: "invalid",
      message: `Buildkite: POST ${builds} was answered with 422: ${message}`,
    });
  });
});

describe("status", () => {
  test.each([
    ["creating", "accepted", undefined],
    ["scheduled", "accepted", undefined],
    ["waiting", "running", undefined],
    ["running", "running", undefined],
    ["failing", "running", undefined],
    ["blocked", "running", undefined],
    ["canceling", "running", undefined],
    ["passed", "succeeded", undefined],
    ["failed", "failed", undefined],
    ["waiting_failed", "failed", undefined],
    ["canceled", "cancelled", undefined],
    ["skipped", "failed", "skipped"],
    ["not_run", "failed", "not_run"],
    ["levitating", "unknown", undefined],
    ["toString", "unknown", undefined],
    ["", "unknown", undefined],
  ])("of a build that is %j is %s", async (state, status, noVerdict) => {
    server.on({ path: `${builds}/27` }, { json: build(state) });
    expect(await runner.status("buildkite/acme/mono/27", neverAborted)).toEqual({
      status,
      providerState: state,
      ...(noVerdict === undefined ? {} : { noVerdict }),
      url: "https://buildkite.com/acme/mono/builds/27",
      metadata: { author: "ada" },
    });
  });

  test.each([
    ["passed", "running", "blocked"],
    ["running", "running", "running"],
    ["failed", "failed", "failed"],
  ])("of a build that is %s and stands at a block step is %s", async (state, status, providerState) => {
    server.on({ path: `${builds}/27` }, { json: build(state, { blocked: true }) });
    expect(await runner.status("buildkite/acme/mono/27", neverAborted)).toMatchObject({
      status,
      providerState,
    });
  });

  test("asks the pipeline that the id names, and for no jobs", async () => {
    server.on({ path: "/v2/organizations/old/pipelines/name/builds/3" }, { json: build("running") });
    await runner.status("buildkite/old/name/3", neverAborted);
    expect(server.seen[0]?.path).toContain("exclude_jobs=true");
  });

  test.each([["no JSON"], ['{"author":1}'], ["[]"], [7], [undefined]])(
    "leaves out metadata that are %j",
    async (text) => {
      server.on({ path: `${builds}/27` }, { json: build("passed", { env: { MILLRACE_METADATA: text } }) });
      expect(await runner.status("buildkite/acme/mono/27", neverAborted)).not.toHaveProperty("metadata");
    },
  );

  test("hands on how long Buildkite asks to wait", async () => {
    server.on({ path: `${builds}/27` }, { json: build("running"), headers: { "retry-after": "30" } });
    expect(await runner.status("buildkite/acme/mono/27", neverAborted)).toMatchObject({
      retryAfterMs: 30_000,
    });
  });
});

describe("the organization's limit of requests", () => {
  const left = (remaining: number) => ({
    "ratelimit-limit": "200",
    "ratelimit-remaining": String(remaining),
    "ratelimit-reset": "42",
  });

  test.each([
    [180, undefined],
    [19, 42_000],
    [0, 42_000],
  ])("of which %d are left makes the next poll wait %j ms", async (remaining, retryAfterMs) => {
    server.on({ path: `${builds}/27` }, { json: build("running"), headers: left(remaining) });
    expect((await runner.status("buildkite/acme/mono/27", neverAborted)).retryAfterMs).toBe(retryAfterMs);
  });

  test("that is exceeded is tried again in the next window", async () => {
    server.on({ path: `${builds}/27` }, { status: 429, headers: left(0) });
    await expect(runner.status("buildkite/acme/mono/27", neverAborted)).rejects.toMatchObject({
      kind: "transient",
      retryAfterMs: 42_000,
    });
  });
});

describe("cancel", () => {
  test.each([
    [200, build("canceling")],
    [422, { message: "Build can't be canceled because it's already finished." }],
  ])("is done when Buildkite answers %d", async (status, json) => {
    server.on({ method: "PUT", path: `${builds}/27/cancel` }, { status, json });
    await runner.cancel("buildkite/acme/mono/27", neverAborted);
    expect(server.seen).toHaveLength(1);
  });

  test("of a build that is not there fails", async () => {
    await expect(runner.cancel("buildkite/acme/mono/27", neverAborted)).rejects.toMatchObject({
      kind: "not_found",
    });
  });
});

describe("configuration", () => {
  test.each([
    ["an unknown field", { token: "x" }],
    ["a URL with a user", { base_url: "https://user:pass@host/" }],
    ["a URL with a query", { base_url: "https://host/?a=b" }],
    ["another scheme", { base_url: "file:///etc" }],
    ["a slug that climbs", { pipeline: "../other" }],
    ["a name that templates do not know", { message: "{headSha}" }],
    ["a limit out of bounds", { limits: { request_ms: 0 } }],
  ])("with %s is refused", (_, more) => {
    expect(() => configOf(more)).toThrow();
  });

  test("whose credential is missing makes no runner, and says which", () => {
    const config = configOf({ token_secret: "other" });
    expect(() => buildkiteRunnerKind.create(config, runnerWorld())).toThrow(
      'The credential "other" is missing',
    );
  });

  test("whose credential cannot be sent makes no runner, and does not show it", () => {
    const world = { ...runnerWorld(), secret: () => "hidden\nhidden" };
    const create = () => buildkiteRunnerKind.create(configOf({}), world);
    expect(create).toThrow("the header authorization has a value that cannot be sent");
    expect(create).not.toThrow(/hidden/);
  });
});
