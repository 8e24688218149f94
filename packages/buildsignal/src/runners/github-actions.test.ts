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
  startMs,
  token,
} from "./build-server.fixture.ts";
import { githubActionsRunnerKind } from "./github-actions.ts";

let server: BuildServer;
const workflow = "/repos/acme/mono/actions/workflows/trunk.yml";
const run = "/repos/acme/mono/actions/runs/30433642";
const runId = "github/acme/mono/30433642";
const inputs = { commit: "{head_commit}", key: "{key}" };

beforeEach(async () => {
  server = await BuildServer.start();
});
afterEach(() => server.close());

function runner(more: Readonly<Record<string, unknown>> = {}): BuildRunner {
  const named = {
    owner: "acme",
    repository: "mono",
    workflow: "trunk.yml",
    token_secret: "ci-token",
    inputs,
  };
  const config = { kind: "github-actions", ...named, base_url: server.url, ...more };
  return githubActionsRunnerKind.create(githubActionsRunnerKind.config.parse(config), runnerWorld());
}

/** A workflow run as GitHub's REST API shows one, without its repositories. */
function workflowRun(more: Readonly<Record<string, unknown>>) {
  return {
    id: 30433642,
    name: "Trunk",
    node_id: "MDEyOldvcmtmbG93IFJ1bjI2OTI4OQ==",
    head_branch: "main",
    head_sha: commit,
    path: ".github/workflows/trunk.yml@main",
    display_title: `Validate (${key})`,
    run_number: 562,
    event: "workflow_dispatch",
    status: "queued",
    conclusion: null,
    workflow_id: 159038,
    url: "https://api.github.com/repos/acme/mono/actions/runs/30433642",
    html_url: "https://github.com/acme/mono/actions/runs/30433642",
    pull_requests: [],
    created_at: "2026-12-01T00:00:00Z",
    updated_at: "2026-12-01T00:00:00Z",
    run_attempt: 1,
    run_started_at: "2026-12-01T00:00:00Z",
    ...more,
  };
}
const details = {
  workflow_run_id: 30433642,
  run_url: "https://api.github.com/repos/acme/mono/actions/runs/30433642",
  html_url: "https://github.com/acme/mono/actions/runs/30433642",
};
const list = (...runs: unknown[]) => ({ json: { total_count: runs.length, workflow_runs: runs } });

describe("trigger", () => {
  test("dispatches the workflow and answers the run", async () => {
    server.on({ method: "POST", path: `${workflow}/dispatches` }, { json: details });
    expect(await runner().trigger(request, neverAborted)).toEqual({ buildId: runId, url: details.html_url });
    const [dispatch] = server.seen;
    expect(dispatch?.headers).toMatchObject({
      authorization: `Bearer ${token}`,
      accept: "application/vnd.github+json",
      "x-github-api-version": "2022-11-28",
    });
    expect(JSON.parse(dispatch?.body ?? "")).toEqual({
      ref: "main",
      inputs: { commit, key },
      return_run_details: true,
    });
  });

  test("without the key in the run's name a failure that may have started one is not tried again", async () => {
    server.on({ method: "POST", path: `${workflow}/dispatches` }, { status: 502 });
    await expect(runner().trigger(request, neverAborted)).rejects.toMatchObject({ kind: "uncertain" });
  });

  test("an answer without the run's number, as of older servers, leaves it in doubt", async () => {
    server.on({ method: "POST", path: `${workflow}/dispatches` }, { status: 204 });
    await expect(runner().trigger(request, neverAborted)).rejects.toMatchObject({ kind: "uncertain" });
  });

  describe("with the key in the run's name", () => {
    const named = { run_name_has_key: true };

    test("answers the run that carries it and starts none", async () => {
      const other = workflowRun({ id: 1, display_title: `Validate (${key}2)` });
      server.on({ path: `${workflow}/runs` }, list(other, workflowRun({})));
      expect((await runner(named).trigger(request, neverAborted)).buildId).toBe(runId);
      expect(server.seen[0]?.path).toContain("event=workflow_dispatch");
      expect(server.of("POST")).toEqual([]);
    });

    test.each([`${key}0`, `x${key}`, `sub/${key}`, "Validate"])(
      "a run named %j carries another key",
      async (display_title) => {
        server.on({ path: `${workflow}/runs` }, list(workflowRun({ id: 1, display_title })));
        server.on({ method: "POST", path: `${workflow}/dispatches` }, { json: details });
        expect((await runner(named).trigger(request, neverAborted)).buildId).toBe(runId);
      },
    );

    test.each([204, 500, 502, 504])("finds the run after an answer of %d", async (status) => {
      server.on({ path: `${workflow}/runs` }, list(), list(workflowRun({})));
      server.on({ method: "POST", path: `${workflow}/dispatches` }, { status });
      expect((await runner(named).trigger(request, neverAborted)).buildId).toBe(runId);
      expect(server.of("POST")).toHaveLength(1);
    });

    test.each([
      ["was answered with 500", { status: 500 }, [list(), list()]],
      ["got lost", reset, [list()]],
    ])("waits for the list when the dispatch %s and the run is not there yet", async (_, reply, lists) => {
      server.on({ path: `${workflow}/runs` }, ...lists, list(workflowRun({})));
      server.on({ method: "POST", path: `${workflow}/dispatches` }, reply);
      const trying = runner(named);
      await expect(trying.trigger(request, neverAborted)).rejects.toMatchObject({
        kind: "transient",
        retryAfterMs: 30_000,
      });
      expect((await trying.trigger(request, neverAborted)).buildId).toBe(runId);
      expect(server.of("POST")).toHaveLength(1);
    });

    test("what the start met is said when the look-up fails as well", async () => {
      server.on({ path: `${workflow}/runs` }, list(), reset);
      server.on({ method: "POST", path: `${workflow}/dispatches` }, { status: 500 });
      await expect(runner(named).trigger(request, neverAborted)).rejects.toMatchObject({
        kind: "transient",
        message: expect.stringContaining("answered with 500"),
      });
    });
  });
});

const resetAt = String(startMs / 1_000 + 90);

describe("status", () => {
  test.each([
    ["queued", null, "accepted", "queued", undefined],
    ["requested", null, "accepted", "requested", undefined],
    ["waiting", null, "accepted", "waiting", undefined],
    ["pending", null, "accepted", "pending", undefined],
    ["in_progress", null, "running", "in_progress", undefined],
    ["completed", "success", "succeeded", "success", undefined],
    ["completed", "failure", "failed", "failure", undefined],
    ["completed", "timed_out", "failed", "timed_out", undefined],
    ["completed", "cancelled", "cancelled", "cancelled", undefined],
    ["completed", "neutral", "failed", "neutral", "neutral"],
    ["completed", "skipped", "failed", "skipped", "skipped"],
    ["completed", "stale", "failed", "stale", "stale"],
    ["completed", "action_required", "failed", "action_required", "action_required"],
    ["completed", "startup_failure", "failed", "startup_failure", "startup_failure"],
    ["completed", "levitated", "failed", "levitated", "levitated"],
    ["completed", null, "unknown", "completed", undefined],
    ["completed", "", "unknown", "completed", undefined],
    ["blocked", null, "unknown", "blocked", undefined],
    ["canceling", null, "unknown", "canceling", undefined],
    [null, null, "unknown", "", undefined],
  ])(
    "of a run that is %j with conclusion %j is %s",
    async (state, conclusion, status, providerState, noVerdict) => {
      server.on({ path: run }, { json: workflowRun({ status: state, conclusion }) });
      expect(await runner().status(runId, neverAborted)).toEqual({
        status,
        providerState,
        ...(noVerdict === undefined ? {} : { noVerdict }),
        url: details.html_url,
      });
    },
  );

  test("is read again only when it has changed", async () => {
    const polling = runner();
    const tagged = (etag: string, status: string) => ({ json: workflowRun({ status }), headers: { etag } });
    const left = { "x-ratelimit-limit": "5000", "x-ratelimit-remaining": "9", "x-ratelimit-reset": resetAt };
    server.on(
      { path: run },
      tagged('"a"', "in_progress"),
      { status: 304, headers: left },
      tagged('"b"', "queued"),
      { json: workflowRun({}) },
      { json: workflowRun({}) },
    );
    const seen: unknown[] = [];
    for (let poll = 0; poll < 5; poll += 1) seen.push(await polling.status(runId, neverAborted));
    expect(seen).toMatchObject([
      { status: "running" },
      { status: "running", retryAfterMs: 60_000 },
      { status: "accepted" },
      { status: "accepted" },
      { status: "accepted" },
    ]);
    expect(server.seen.map((one) => one.headers["if-none-match"])).toEqual([
      undefined,
      '"a"',
      '"a"',
      '"b"',
      undefined,
    ]);
  });

  test("a renamed repository is followed on the same host", async () => {
    server.on({ path: run }, { status: 301, headers: { location: "/repositories/7/actions/runs/30433642" } });
    server.on(
      { path: "/repositories/7/actions/runs/30433642" },
      { json: workflowRun({ status: "in_progress" }) },
    );
    expect(await runner().status(runId, neverAborted)).toMatchObject({ status: "running" });
  });

  test.each([
    ["403 with Retry-After", 403, { "retry-after": "60" }, "transient", 60_000],
    [
      "403 without anything left",
      403,
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset": resetAt },
      "transient",
      90_000,
    ],
    [
      "429 without anything left",
      429,
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset": resetAt },
      "transient",
      90_000,
    ],
    [
      "403 with something left",
      403,
      { "x-ratelimit-remaining": "7", "x-ratelimit-reset": resetAt },
      "forbidden",
      undefined,
    ],
  ])("%s is %j", async (_, status, headers, kind, retryAfterMs) => {
    server.on({ path: run }, { status, headers, json: { message: "API rate limit exceeded" } });
    await expect(runner().status(runId, neverAborted)).rejects.toMatchObject({ kind, retryAfterMs });
  });
});

describe("cancel", () => {
  test.each([
    [202, {}],
    [409, { message: "Cannot cancel a workflow run that is completed." }],
  ])("is done when GitHub answers %d", async (status, json) => {
    server.on({ method: "POST", path: `${run}/cancel` }, { status, json });
    await runner().cancel(runId, neverAborted);
    expect(server.seen).toHaveLength(1);
  });

  test("of a run that is not there fails", async () => {
    await expect(runner().cancel(runId, neverAborted)).rejects.toMatchObject({ kind: "not_found" });
  });
});
