import { Rows, TargetStatus } from "@millrace/proto/pipeline";
import { expect, test } from "vitest";
import { type BepProperties, bazelEvent, projectAll } from "./project-all.fixture.ts";

function rowsOf(...events: BepProperties[]): ReturnType<typeof Rows.decode> {
  return Rows.decode(projectAll(events.map((event) => bazelEvent(event))).rows);
}

const eventTimeMs = 1_700_000_000_005;
const completedId = { targetCompleted: { label: "//a:b", aspect: "x", configuration: { id: "c" } } };

test("a configured target has a row for each configuration that its completion is announced in", () => {
  const { targets } = rowsOf({
    id: { targetConfigured: { label: "//a:b" } },
    children: ["c1", "c2"].map((id) => ({ targetCompleted: { label: "//a:b", configuration: { id } } })),
    configured: { targetKind: "x_test rule", testSize: 2, tag: ["t"] },
  });
  const row = {
    label: "//a:b",
    aspect: "",
    status: TargetStatus.CONFIGURED,
    targetKind: "x_test rule",
    testSize: 2,
    tags: ["t"],
  };
  expect(targets).toMatchObject([
    { ...row, configuration: "c1" },
    { ...row, configuration: "c2" },
  ]);
  const { targets: alone } = rowsOf({ id: { targetConfigured: { label: "//a:b" } }, configured: {} });
  expect(alone).toMatchObject([{ label: "//a:b", configuration: "" }]);
});

test.each([
  [{ completed: { success: true } }, TargetStatus.BUILT],
  [{ completed: { failureDetail: { message: "why" } } }, TargetStatus.FAILED],
  [{ aborted: { reason: 7 } }, TargetStatus.SKIPPED],
  [{ aborted: { reason: 9 } }, TargetStatus.NOT_BUILT],
  [{ aborted: { reason: 8 } }, TargetStatus.NOT_BUILT],
  [{ aborted: { reason: 10, description: "why" } }, TargetStatus.ABORTED],
] as const)("a target's event with %j has status %d", (payload, status) => {
  expect(rowsOf({ id: completedId, ...payload }).targets).toMatchObject([
    { label: "//a:b", aspect: "x", configuration: "c", status, completedAtMs: eventTimeMs },
  ]);
});

test("what is aborted and no target tells why the invocation failed, and makes no row", () => {
  const rows = rowsOf({
    id: { pattern: { pattern: ["//no:such"] } },
    aborted: { reason: 5, description: "no such package" },
  });
  expect(rows.targets).toEqual([]);
  expect(rows.invocation).toMatchObject({
    abortReason: "LOADING_FAILURE",
    failureMessage: "no such package",
    patterns: ["//no:such"],
  });
  expect(rowsOf({ id: { configuredLabel: { label: "//a" } }, aborted: { reason: 9 } }).invocation).toBeNull();
});

test("branch, commit and repository come from a CI system's variables, which are not stored themselves", () => {
  const args = [
    "--client_env=GITHUB_HEAD_REF=feature",
    "--client_env=GITHUB_REF_NAME=12/merge",
    "--client_env=GITHUB_SHA=abc",
    "--client_env=GITHUB_REPOSITORY=o/r",
    "--client_env=constructor=x",
    "--client_env=GITHUB_TOKEN=hunter22",
  ];
  expect(rowsOf({ unstructuredCommandLine: { args } }).invocation).toMatchObject({
    branch: "feature",
    commit: "abc",
    repositoryUrl: "https://github.com/o/r",
  });
  const clone = "--client_env=CI_REPOSITORY_URL=https://gitlab-ci-token:hunter22@gitlab.example.com/o/r.git";
  expect(rowsOf({ unstructuredCommandLine: { args: [clone] } }).invocation?.repositoryUrl).toBe(
    "https://<redacted>@gitlab.example.com/o/r.git",
  );
});

test("texts that PostgreSQL cannot hold or a page cannot show are cut down, and no row has a key that cannot be indexed", () => {
  const long = "x".repeat(100_000);
  const rows = rowsOf(
    { id: completedId, completed: { failureDetail: { message: `a\u0000b${long}` } } },
    { id: { targetCompleted: { label: long } }, completed: { success: true } },
    { id: { testResult: { label: long } }, testResult: { status: 1 } },
    { id: { targetCompleted: {} }, completed: { success: true } },
    { id: { pattern: { pattern: Array.from({ length: 5000 }, () => "//a") } }, expanded: {} },
  );
  expect(rows.targets.length + rows.testResults.length).toBe(1);
  expect(rows.targets[0]?.failureMessage).toMatch(/^a\ufffdbx{16381}$/);
  expect(rows.invocation?.patterns?.length).toBe(100);
});

test("what is said last of an invocation stands, and what is not said again stays", () => {
  const rows = rowsOf(
    { started: { command: "test", startTimeMillis: 5 } },
    { buildMetadata: { metadata: { USER: "ann", ROLE: "CI" } } },
    { workspaceStatus: { item: [{ key: "BUILD_HOST", value: "h" }] } },
    { finished: { exitCode: { name: "TESTS_FAILED", code: 3 }, finishTimeMillis: 9 } },
  );
  expect(rows.invocation).toMatchObject({
    command: "test",
    startedAtMs: 5,
    user: "ann",
    role: "CI",
    host: "h",
    exitCode: 3,
    exitCodeName: "TESTS_FAILED",
    finishedAtMs: 9,
  });
});
