import type { Invocation } from "@millrace/client/client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { BuildRunner } from "../runner.ts";
import {
  BuildServer,
  commit,
  neverAborted,
  request,
  reset,
  runnerWorld,
  startMs,
  token,
} from "./build-server.fixture.ts";
import { invocationIdOf, millraceRunnerKind } from "./millrace.ts";

let server: BuildServer;
beforeEach(async () => {
  server = await BuildServer.start();
});
afterEach(() => server.close());

const invocationId = invocationIdOf(request);
const buildId = `millrace/default/${invocationId}`;
const stored = { path: `/api/v1/projects/default/invocations/${invocationId}` };
const starts = { method: "POST", path: "/builder/builds" };

function runner(more: Readonly<Record<string, unknown>> = {}): BuildRunner {
  const start = {
    kind: "http",
    base_url: `${server.url}/builder`,
    headers: { authorization: "Bearer {secret:ci-token}" },
    request: {
      method: "POST",
      path: "builds",
      body: { commit: "{head_commit}", invocationId: "{invocation_id}" },
    },
    cancel: { method: "DELETE", path: "builds/{invocation_id}" },
  };
  const config = { kind: "millrace", server: server.url, start, ...more };
  return millraceRunnerKind.create(millraceRunnerKind.config.parse(config), runnerWorld());
}

/** An invocation as the read API answers it. */
function invocation(more: Partial<Invocation>): Invocation {
  return {
    project: "default",
    invocationId,
    attempt: 1,
    buildId: "b1",
    status: "running",
    command: "test",
    patterns: ["//..."],
    patternCount: 1,
    user: "ci",
    host: "builder",
    branch: "main",
    commit,
    role: "CI",
    createdAt: "2026-11-30T23:00:00.000Z",
    startedAt: "2026-11-30T23:00:00.000Z",
    finishedAt: "2026-11-30T23:30:00.000Z",
    endedAt: "2026-11-30T23:30:00.000Z",
    durationMs: null,
    exitCode: null,
    exitCodeName: null,
    targets: { total: 0, done: 0, failed: 0 },
    tests: { total: 0, passed: 0, failed: 0, flaky: 0 },
    lastSequence: 1,
    logBytes: 0,
    logLines: 0,
    toolVersion: "8.4.0",
    failureMessage: null,
    abortReason: null,
    workspaceDirectory: null,
    workingDirectory: null,
    repositoryUrl: null,
    cpu: null,
    platform: null,
    actionsExecuted: null,
    wallTimeMs: null,
    cpuTimeMs: null,
    complete: false,
    partial: false,
    undecodedEvents: 0,
    attempts: [],
    ...more,
  };
}
const unknown = {
  status: 404,
  json: { code: "not-found", detail: "It is not here, or you may not see it." },
};

describe("the invocation id", () => {
  test("is a UUID that follows from the key", () => {
    expect(invocationId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(invocationIdOf({ ...request })).toBe(invocationId);
  });

  test("is another one for another key, queue, project, commit or base", () => {
    const others = [{ key: "k" }, { queue: "q" }, { project: "p" }, { headUri: "h" }, { baseUri: "b" }].map(
      (other) => invocationIdOf({ ...request, ...other }),
    );
    expect(new Set([invocationId, ...others]).size).toBe(6);
  });
});

describe("trigger", () => {
  const build = {
    buildId,
    url: expect.stringMatching(`/p/default/i/${invocationId}$`),
    metadata: { invocationId },
  };

  test("asks for a Bazel with the invocation id", async () => {
    server.on(stored, unknown);
    server.on(starts, { status: 202 });
    expect(await runner().trigger(request, neverAborted)).toEqual(build);
    const [post] = server.of("POST");
    expect(JSON.parse(post?.body ?? "")).toEqual({ commit, invocationId });
    expect(post?.headers.authorization).toBe(`Bearer ${token}`);
  });

  test("starts none when the invocation streams already", async () => {
    server.on(stored, { json: invocation({}) });
    expect(await runner().trigger(request, neverAborted)).toEqual(build);
    expect(server.of("POST")).toEqual([]);
  });

  test.each([500, 502, 504])("after an answer of %d is tried again with the same id", async (status) => {
    server.on(stored, unknown);
    server.on(starts, { status }, { status: 202 });
    await expect(runner().trigger(request, neverAborted)).rejects.toMatchObject({ kind: "transient" });
    expect(await runner().trigger(request, neverAborted)).toEqual(build);
    expect(new Set(server.of("POST").map((seen) => seen.body)).size).toBe(1);
  });

  test("that starts nothing itself only names the invocation", async () => {
    server.on(stored, unknown);
    expect(await runner({ start: { kind: "expected" } }).trigger(request, neverAborted)).toEqual(build);
    expect(server.of("POST")).toEqual([]);
  });

  test("looks in the project that the configuration names", async () => {
    server.on(starts, { status: 202 });
    const elsewhere = await runner({ project: "a b" }).trigger(request, neverAborted);
    expect(elsewhere.buildId).toBe(`millrace/a%20b/${invocationId}`);
    expect(server.seen[0]?.path).toBe(`/api/v1/projects/a%20b/invocations/${invocationId}`);
    server.on({ path: `/api/v1/projects/a%20b/invocations/${invocationId}` }, { json: invocation({}) });
    expect(await runner().status(elsewhere.buildId, neverAborted)).toMatchObject({ status: "running" });
  });
});

describe("status", () => {
  test.each([
    ["running", null, null, "running", undefined],
    ["succeeded", 0, "SUCCESS", "succeeded", undefined],
    ["failed", 1, "BUILD_FAILURE", "failed", undefined],
    ["failed", 3, "TESTS_FAILED", "failed", undefined],
    ["failed", 4, "NO_TESTS_FOUND", "failed", undefined],
    ["failed", 7, "ANALYSIS_FAILURE", "failed", undefined],
    ["failed", 2, "COMMAND_LINE_ERROR", "failed", "COMMAND_LINE_ERROR"],
    ["failed", 33, "OOM_ERROR", "failed", "OOM_ERROR"],
    ["failed", 34, "REMOTE_ERROR", "failed", "REMOTE_ERROR"],
    ["failed", 37, "BLAZE_INTERNAL_ERROR", "failed", "BLAZE_INTERNAL_ERROR"],
    ["failed", 38, "", "failed", "exit_code_38"],
    ["interrupted", 8, "INTERRUPTED", "cancelled", undefined],
    ["aborted", null, null, "failed", "aborted"],
  ] as const)(
    "of an invocation that %s with exit code %j (%j) is %s",
    async (state, exitCode, exitCodeName, status, noVerdict) => {
      server.on(stored, { json: invocation({ status: state, exitCode, exitCodeName }) });
      expect(await runner().status(buildId, neverAborted)).toEqual({
        status,
        providerState: state,
        ...(noVerdict === undefined ? {} : { noVerdict }),
        url: `${server.url}/p/default/i/${invocationId}`,
      });
    },
  );

  test.each([
    [0, "running", undefined],
    [599_999, "running", undefined],
    [600_000, "failed", "disconnected"],
  ])("of a stream that broke off %d ms ago is %s", async (agoMs, status, noVerdict) => {
    const endedAt = new Date(startMs - agoMs).toISOString();
    server.on(stored, { json: invocation({ status: "disconnected", endedAt }) });
    expect(await runner().status(buildId, neverAborted)).toEqual({
      status,
      providerState: "disconnected",
      ...(noVerdict === undefined ? {} : { noVerdict }),
      url: `${server.url}/p/default/i/${invocationId}`,
    });
  });

  test("of an invocation that has not streamed yet is accepted", async () => {
    server.on(stored, unknown);
    expect(await runner().status(buildId, neverAborted)).toMatchObject({
      status: "accepted",
      providerState: "not_streamed",
    });
  });

  test("of a state that we do not know is unknown", async () => {
    server.on(stored, { json: { ...invocation({}), status: "levitating" } });
    expect(await runner().status(buildId, neverAborted)).toMatchObject({
      status: "unknown",
      providerState: "levitating",
    });
  });

  test("is asked for with the configured headers", async () => {
    server.on(stored, { json: invocation({}) });
    await runner({ headers: { "x-api-key": "{secret:ci-token}" } }).status(buildId, neverAborted);
    expect(server.seen[0]?.headers["x-api-key"]).toBe(token);
  });
});

describe("cancel", () => {
  const ends = { method: "DELETE", path: `/builder/builds/${invocationId}` };

  test.each([202, 404, 409, 410])("is done when the starter answers %d", async (status) => {
    server.on(ends, { status });
    await runner().cancel(buildId, neverAborted);
    expect(server.of("DELETE")).toHaveLength(1);
  });

  test("fails when the starter is away", async () => {
    server.on(ends, reset);
    await expect(runner().cancel(buildId, neverAborted)).rejects.toMatchObject({ kind: "transient" });
  });

  test("of a build that others start asks nobody", async () => {
    await runner({ start: { kind: "expected" } }).cancel(buildId, neverAborted);
    expect(server.seen).toEqual([]);
  });
});
