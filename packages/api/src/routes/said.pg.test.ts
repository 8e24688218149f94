import { afterAll, beforeAll, expect, test } from "vitest";
import { listRuns } from "../../../../test/model/corpus.ts";
import { type LocalPipeline, startLocalPipeline } from "../../../../test/pipeline/local-pipeline.ts";
import { uploadsOf } from "../../../../test/pipeline/uploads.ts";
import { type ApiServer, apiServer } from "../../../../test/seed/api-server.ts";
import { freshDatabase, type TestDatabase } from "../../../../test/services/database.ts";

let store: TestDatabase;
let pipeline: LocalPipeline;
let server: ApiServer;

beforeAll(async () => {
  store = await freshDatabase();
  pipeline = await startLocalPipeline(store.url);
  server = await apiServer({ databaseUrl: store.url });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await pipeline.close();
  await store.drop();
});

/** Uploads a recorded run once; answers a way to read of it. */
const uploaded = new Map<string, Promise<string>>();
async function recorded(name: string): Promise<(rest: string) => Promise<Record<string, unknown>>> {
  const run = listRuns().find((one) => one.name === name);
  if (run === undefined) throw new Error(`there is no recorded run ${name}`);
  const upload = async (): Promise<string> => {
    const [first] = uploadsOf(run);
    if (first === undefined) throw new Error(`${name} has no stream`);
    await pipeline.upload(first);
    return first.invocationId;
  };
  const id = await (uploaded.get(name) ?? uploaded.set(name, upload()).get(name));
  return async (rest) => {
    const answer = await server.fetch(`/api/v1/projects/default/invocations/${id}${rest}`);
    expect(answer.status, await answer.clone().text()).toBe(200);
    return (await answer.json()) as Record<string, unknown>;
  };
}

test("actions: failed ones with what they ran, all by mnemonic", async () => {
  const get = await recorded("bazel4-all-actions");
  const { actions, counts, nextCursor } = await get("/actions");
  expect({ actions, nextCursor }).toEqual({ actions: [], nextCursor: null });
  // Its actions were up to date but for one.
  const statusAction = { mnemonic: "BazelWorkspaceStatusAction", succeeded: 1, failed: 0, durationMs: 0 };
  expect(counts).toEqual([statusAction]);
  const bad = await (await recorded("bazel4-test-bad"))("/actions?limit=1");
  expect(bad["actions"]).toMatchObject([{ success: false, exitCode: 1, mnemonic: "Genrule" }]);
});

test("metrics: numbers by name, and every group", async () => {
  const { metrics } = await (await recorded("bazel4-test-ok"))("/metrics");
  expect(metrics).toMatchObject({
    actionsExecuted: expect.any(Number),
    wallTimeMs: expect.any(Number),
    groups: { actionSummary: {}, timingMetrics: {} },
  });
});

test("details: options, configurations and what belongs to no target", async () => {
  const get = await recorded("bazel4-test-ok");
  const details = await get("/details");
  expect(details).toMatchObject({
    options: expect.arrayContaining([expect.stringMatching(/^--bes_backend=/)]),
    explicitOptions: expect.any(Array),
    serverPid: expect.any(Number),
    unknown: [],
    wasSuspended: false,
  });
  expect(details["configurations"]).toEqual(
    expect.arrayContaining([expect.objectContaining({ mnemonic: "k8-fastbuild", cpu: "k8", isTool: false })]),
  );
  const { problems } = await (await recorded("bazel4-bad-pattern"))("/details");
  expect(problems).toMatchObject([{ reason: "LOADING_FAILURE", subject: expect.stringContaining("nosuch") }]);
});

test("outputs: files of a target, page by page, and 404 for no target", async () => {
  const get = await recorded("bazel4-test-ok");
  const { targets } = (await get("/targets?limit=500")) as {
    targets: { label: string; aspect: string; configuration: string; status: string }[];
  };
  const hello = targets.find(({ label, status }) => label === "//:hello" && status === "built");
  const of = new URLSearchParams({ label: "//:hello", configuration: hello?.configuration ?? "" });
  const { outputs, nextCursor } = await get(`/outputs?${of}`);
  expect(outputs).toMatchObject([{ group: "default", path: expect.stringMatching(/hello\.txt$/) }]);
  expect(nextCursor).toBeNull();
  const url = `/api/v1/projects/default/invocations/${await uploaded.get("bazel4-test-ok")}/outputs?label=//:none`;
  expect((await server.fetch(url)).status).toBe(404);
});

test("pages of outputs fit together", async () => {
  const get = await recorded("bazel4-aspects");
  const { targets } = (await get("/targets?limit=500")) as {
    targets: { label: string; aspect: string; configuration: string }[];
  };
  let most: unknown[] = [];
  for (const { label, aspect, configuration } of targets) {
    const of = new URLSearchParams({ label, aspect, configuration });
    const { outputs: all } = await get(`/outputs?${of}`);
    const paged: unknown[] = [];
    for (let cursor: unknown = ""; cursor !== null; ) {
      const page = await get(`/outputs?${of}&limit=1${cursor === "" ? "" : `&cursor=${cursor}`}`);
      paged.push(...(page["outputs"] as unknown[]));
      cursor = page["nextCursor"];
    }
    expect(paged).toEqual(all);
    if (paged.length > most.length) most = paged;
  }
  expect(most.length).toBeGreaterThan(1);
});
