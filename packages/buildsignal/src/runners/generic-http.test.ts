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
import { genericHttpRunnerKind } from "./generic-http.ts";

let server: BuildServer;
beforeEach(async () => {
  server = await BuildServer.start();
});
afterEach(() => server.close());

/** GitLab's pipelines by the generic runner: one real service that has no runner of its own. */
function gitlab() {
  const project = "projects/7";
  return {
    kind: "generic-http",
    name: "GitLab",
    base_url: `${server.url}/api/v4`,
    headers: { "private-token": "{secret:ci-token}" },
    find: { request: { path: `${project}/pipelines?name={key}&per_page=1` }, id: "/0/id", url: "/0/web_url" },
    trigger: {
      request: {
        method: "POST",
        path: `${project}/pipeline`,
        body: {
          ref: "main",
          variables: [
            { key: "COMMIT", value: "{head_commit}" },
            { key: "KEY", value: "{key}" },
          ],
        },
      },
      id: "/id",
      url: "/web_url",
    },
    status: {
      request: { path: `${project}/pipelines/{build_id}` },
      state: ["/detailed_status/group", "/status"],
      states: {
        created: "accepted",
        pending: "accepted",
        running: "running",
        manual: "running",
        canceling: "running",
        success: "succeeded",
        failed: "failed",
        canceled: "cancelled",
        skipped: "no_verdict",
      },
      url: "/web_url",
    },
    cancel: { request: { method: "POST", path: `${project}/pipelines/{build_id}/cancel` } },
  };
}

function runner(config: Readonly<Record<string, unknown>>): BuildRunner {
  return genericHttpRunnerKind.create(genericHttpRunnerKind.config.parse(config), runnerWorld());
}

const pipelines = "/api/v4/projects/7/pipelines";
const create = { method: "POST", path: "/api/v4/projects/7/pipeline" };
const started = { id: 287, status: "created", web_url: "https://gitlab.example/p/-/pipelines/287" };
const buildId = "http/trunk/287";

describe("trigger", () => {
  test("fills the templates and answers the id at its pointer", async () => {
    server.on({ path: pipelines }, { json: [] });
    server.on(create, { status: 201, json: started });
    expect(await runner(gitlab()).trigger(request, neverAborted)).toEqual({ buildId, url: started.web_url });
    const [find, post] = server.seen;
    expect(find?.path).toBe(`${pipelines}?name=${encodeURIComponent(key)}&per_page=1`);
    expect(post?.headers["private-token"]).toBe(token);
    expect(JSON.parse(post?.body ?? "")).toEqual({
      ref: "main",
      variables: [
        { key: "COMMIT", value: commit },
        { key: "KEY", value: key },
      ],
    });
  });

  test("answers the build that carries the key and starts none", async () => {
    server.on({ path: pipelines }, { json: [started] });
    expect(await runner(gitlab()).trigger(request, neverAborted)).toEqual({ buildId, url: started.web_url });
    expect(server.of("POST")).toEqual([]);
  });

  test.each([
    ["a failure that may have started it", { status: 500 }],
    ["an answer without an id", { status: 201, json: { message: "ok" } }],
    ["an answer that is no JSON", { status: 201, text: "OK" }],
  ])("finds the build after %s", async (_, reply) => {
    server.on({ path: pipelines }, { status: 404 }, { json: [started] });
    server.on(create, reply);
    expect((await runner(gitlab()).trigger(request, neverAborted)).buildId).toBe(buildId);
    expect(server.of("POST")).toHaveLength(1);
  });

  test("that cannot find builds leaves such a build in doubt", async () => {
    server.on(create, { status: 500 });
    const { find: _, ...config } = gitlab();
    await expect(runner(config).trigger(request, neverAborted)).rejects.toMatchObject({ kind: "uncertain" });
  });

  test("of a service that starts one build per key is sent again after any failure", async () => {
    const { find: _, trigger, ...config } = gitlab();
    const own = { ...trigger.request, headers: { "idempotency-key": "{key}" } };
    const idempotent = runner({ ...config, trigger: { ...trigger, request: own, key_is_idempotent: true } });
    server.on(create, { status: 502, headers: { "retry-after": "3" } }, reset, {
      status: 201,
      json: started,
    });
    const failure = { kind: "transient", retryAfterMs: 3_000 };
    await expect(idempotent.trigger(request, neverAborted)).rejects.toMatchObject(failure);
    await expect(idempotent.trigger(request, neverAborted)).rejects.toMatchObject({ kind: "transient" });
    expect((await idempotent.trigger(request, neverAborted)).buildId).toBe(buildId);
    expect(server.seen.map((seen) => seen.headers["idempotency-key"])).toEqual(Array(3).fill(key));
  });

  test("refuses an id that is too long to keep", async () => {
    server.on({ path: pipelines }, { json: [] });
    server.on(create, { json: { id: "x".repeat(500) } });
    await expect(runner(gitlab()).trigger(request, neverAborted)).rejects.toMatchObject({ kind: "invalid" });
  });
});

describe("status", () => {
  test.each([
    [{ status: "created" }, "accepted", "created", undefined],
    [{ status: "running" }, "running", "running", undefined],
    [{ status: "manual" }, "running", "manual", undefined],
    [{ status: "canceling" }, "running", "canceling", undefined],
    [{ status: "success" }, "succeeded", "success", undefined],
    [{ status: "failed" }, "failed", "failed", undefined],
    [{ status: "canceled" }, "cancelled", "canceled", undefined],
    [{ status: "skipped" }, "failed", "skipped", "skipped"],
    [{ status: "success", detailed_status: { group: "running" } }, "running", "running", undefined],
    [{ status: "success", detailed_status: { group: null } }, "succeeded", "success", undefined],
    [{ status: "success", detailed_status: { group: "" } }, "succeeded", "success", undefined],
    [{ status: "levitating" }, "unknown", "levitating", undefined],
    [{ status: "toString" }, "unknown", "toString", undefined],
    [{ status: { deep: 1 } }, "unknown", "", undefined],
    [{}, "unknown", "", undefined],
  ])("of %j is %s", async (more, status, providerState, noVerdict) => {
    server.on({ path: `${pipelines}/287` }, { json: { id: 287, web_url: started.web_url, ...more } });
    expect(await runner(gitlab()).status(buildId, neverAborted)).toEqual({
      status,
      providerState,
      ...(noVerdict === undefined ? {} : { noVerdict }),
      url: started.web_url,
    });
  });

  test("an id of the service's own making stays one segment of the path", async () => {
    server.on({ path: `${pipelines}/a%2F..%2Fb%3Fc` }, { json: { status: "running" } });
    expect(await runner(gitlab()).status("http/trunk/a/../b?c", neverAborted)).toMatchObject({
      status: "running",
    });
    await expect(runner(gitlab()).status("http/trunk/..", neverAborted)).rejects.toMatchObject({
      kind: "invalid",
    });
  });
});

describe("cancel", () => {
  const cancel = { method: "POST", path: `${pipelines}/287/cancel` };

  test.each([200, 404, 409])("is done when the service answers %d", async (status) => {
    server.on(cancel, { status });
    await runner(gitlab()).cancel(buildId, neverAborted);
    expect(server.of("POST")).toHaveLength(1);
  });

  test("that the service forbids fails", async () => {
    server.on(cancel, { status: 403 });
    await expect(runner(gitlab()).cancel(buildId, neverAborted)).rejects.toMatchObject({ kind: "forbidden" });
  });

  test("asks nobody where none is configured", async () => {
    const { cancel: _, ...config } = gitlab();
    await runner(config).cancel(buildId, neverAborted);
    expect(server.seen).toEqual([]);
  });
});

test.each([
  ["a pointer that is none", { status: { ...gitlabStatus(), state: "status" } }],
  ["a meaning that is none", { status: { ...gitlabStatus(), states: { ok: "green" } } }],
  ["a path that leaves the base", { cancel: { request: { path: "/elsewhere" } } }],
  ["a credential in a path", { cancel: { request: { path: "x?token={secret:ci-token}" } } }],
  ["a credential in a body", { cancel: { request: { path: "x", body: { token: "{secret:ci-token}" } } } }],
  ["no pointer at all", { status: { ...gitlabStatus(), state: [] } }],
])("configuration with %s is refused", (_, more) => {
  expect(() => runner({ ...gitlab(), ...more })).toThrow();
});

function gitlabStatus() {
  return { request: { path: "runs/{build_id}" }, state: "/status", states: {} };
}
