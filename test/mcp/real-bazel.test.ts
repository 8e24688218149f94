import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tool } from "../tools.ts";
import { type Answer, Place, Session, until } from "./session.ts";

const bazel = await tool("bazel");

describe.skipIf(bazel.kind === "missing")("real Bazel over stdio", () => {
  let place: Place;
  let session: Session;
  let config = "";
  const sandbox = "--spawn_strategy=local";

  beforeAll(async () => {
    place = new Place(path.resolve(import.meta.dirname, "../e2e/workspace"));
    config = place.config([
      `output_user_root = ${JSON.stringify(place.outputUserRoot)}`,
      `bazel_executable = ${JSON.stringify(bazel.kind === "missing" ? "" : bazel.path)}`,
      'denied_commands = ["clean"]',
      `allowed_commands = ["build", "test", "query", "info", "run", "shutdown", "cquery", "version"]`,
    ]);
    session = await Session.open(place, ["--config", config]);
  });

  afterAll(async () => {
    await session.call("bazel_run", { workspace: place.workspace, command: "shutdown" });
    await session.close();
    place.remove();
  });

  const run = (command: string, args: readonly string[], more: object = {}): Promise<Answer> =>
    session.call("bazel_run", { workspace: place.workspace, command, args, ...more });
  const firstMessage = (answer: Answer): string =>
    (answer.fields["diagnostics"] as { message: string }[])[0]?.message ?? "";

  test("every tool is listed with an input schema and a short name", async () => {
    const { tools } = await session.client.listTools();
    expect(tools.map((one) => one.name)).toContain("bazel_run");
    for (const one of tools) {
      expect(one.name).toMatch(/^[a-z_]{1,30}$/);
      expect(one.inputSchema.type).toBe("object");
      expect(one.inputSchema["additionalProperties"]).toBe(false);
    }
  });

  test("a build that succeeds takes a few hundred bytes", async () => {
    const answer = await run("build", ["//:hello", sandbox]);
    expect(answer.fields).toMatchObject({ state: "succeeded", exit_code: 0, headline: "1 target built" });
    expect(answer.bytes).toBeLessThan(600);
  });

  test("passing and flaky tests", async () => {
    const answer = await run("test", ["//:pass_test", "//:flaky_test", sandbox]);
    expect(answer.fields).toMatchObject({ state: "succeeded", tests: { passed: 1, flaky: 1 } });
    expect(answer.bytes).toBeLessThan(2048);
  });

  test("failing, failing shard, timing out and unbuildable tests, the cause first", async () => {
    const answer = await run("test", ["-k", "//bad:all", "--test_timeout=2", sandbox]);
    expect(answer.fields).toMatchObject({ state: "failed", tests: { failed: 2, incomplete: 1 } });
    expect(answer.fields["headline"]).toContain("assertion failed: 1 != 2");
    expect(answer.text).toContain("//bad:timeout_test timed out");
    expect(answer.text).toContain("error: something broke");
    expect(answer.bytes).toBeLessThan(8192);
    const id = answer.fields["invocation_id"];
    const log = await session.call("bazel_inspect", {
      invocation_id: id,
      view: "test_log",
      filter: "//bad:fail_test",
    });
    expect(log.text).toContain("assertion failed: 1 != 2");
    const tests = await session.call("bazel_inspect", {
      invocation_id: id,
      view: "tests",
      filter: "//bad/...",
    });
    expect(tests.fields["filtered_count"]).toBe(3);
  });

  test.each([
    ["a loading error", ["//loaderr:all"], "syntax error", "loaderr/BUILD:2:1"],
    ["an analysis error", ["//analysis:all"], "no such package 'does/not'", "analysis/BUILD:1:8"],
    ["a missing package", ["//does/not:exist"], "no such package 'does/not'", ""],
    ["a failing action", ["//bad:broken", sandbox], "error: something broke", ""],
    ["a bad flag", ["--nosuchflag", "//:hello"], "Unrecognized option: --nosuchflag", ""],
  ])("%s names its cause in the first diagnostic", async (_name, args, message, location) => {
    const answer = await run("build", args);
    expect(answer.fields["state"]).toBe("failed");
    expect(firstMessage(answer)).toContain(message);
    expect(answer.fields["headline"]).toContain(message);
    if (location !== "") expect(answer.text).toContain(location);
    expect(answer.bytes).toBeLessThan(8192);
  });

  test("a query of many rows: a sample, every row once, a late row by filter", async () => {
    const answer = await run("query", ["//big:all"]);
    expect(answer.fields).toMatchObject({ state: "succeeded", query_result_count: 8000 });
    expect(answer.bytes).toBeLessThan(2048);
    const id = answer.fields["invocation_id"];
    const seen = new Set<string>();
    for (let cursor: unknown, pages = 0; pages < 3; pages += 1) {
      const page = await session.call("bazel_inspect", {
        ...{ invocation_id: id, view: "query_results", limit: 100 },
        ...(cursor === undefined ? {} : { cursor }),
      });
      for (const row of page.fields["items"] as { value: string }[]) seen.add(row.value);
      cursor = page.fields["next_cursor"];
    }
    expect(seen.size).toBe(300);
    const late = await session.call("bazel_inspect", {
      invocation_id: id,
      view: "query_results",
      filter: "//big:T0",
    });
    expect((late.fields["items"] as unknown[]).length).toBeGreaterThan(0);
  });

  test("info is answered with what it printed", async () => {
    const answer = await run("info", ["workspace"]);
    expect(answer.fields["output"]).toBe(place.workspace);
  });

  test("a run that takes long is answered early, looked into, and cancelled", async () => {
    const answer = await run("build", ["//slow:sleep"], { wait_ms: 50 });
    expect(["queued", "starting", "running"]).toContain(answer.fields["state"]);
    const id = answer.fields["invocation_id"];
    await until(async () => {
      const now = await session.call("bazel_inspect", { invocation_id: id, view: "summary" });
      return now.text.includes("0 of 1 targets done");
    });
    const cancel = await session.call("bazel_cancel", { invocation_id: id, reason: "enough" });
    expect(cancel.fields).toMatchObject({ cancellation_requested: true });
    const end = await session.call("bazel_inspect", { invocation_id: id, view: "summary", wait_ms: 60_000 });
    expect(end.text).toContain("Cancelled: enough");
    const again = await session.call("bazel_cancel", { invocation_id: id });
    expect(again.fields).toMatchObject({ prior_state: "cancelled", cancellation_requested: false });
  });

  test("a command that waits for the output base is cancelled without ever starting", async () => {
    const first = await run("build", ["//slow:sleep"], { wait_ms: 50 });
    const second = await run("build", ["//:hello"], { wait_ms: 300 });
    expect(second.fields).toMatchObject({ state: "queued" });
    expect(second.text).toContain("waiting for the output base");
    const cancel = await session.call("bazel_cancel", { invocation_id: second.fields["invocation_id"] });
    expect(cancel.fields).toMatchObject({ prior_state: "queued", current_state: "cancelled" });
    await session.call("bazel_cancel", { invocation_id: first.fields["invocation_id"] });
    await session.call("bazel_inspect", {
      invocation_id: first.fields["invocation_id"],
      view: "summary",
      wait_ms: 60_000,
    });
  });

  test("bazel run: the program's exit code and output, its arguments kept nowhere", async () => {
    const answer = await session.call("bazel_run", {
      ...{ workspace: place.workspace, command: "run", args: [sandbox], target: "//:pass_test" },
      program_args: ["hush-hush"],
    });
    expect(answer.fields).toMatchObject({ run: { outcome: "succeeded", program_exit_code: 0 } });
    expect(answer.text).toContain("hello from pass");
    expect(answer.text).not.toContain("hush-hush");
  });

  test("what the policy forbids is refused before anything is recorded", async () => {
    const before = await session.call("bazel_inspect", { view: "invocations", limit: 1 });
    for (const request of [
      { command: "clean" },
      { command: "build", args: ["--color=yes", "//:hello"] },
      { command: "query", args: ["--output=proto", "//:all"] },
      { command: "build", args: ["//:hello"], target: "//:hello" },
      { command: "build", args: ["a\0b"] },
    ]) {
      const answer = await session.call("bazel_run", { workspace: place.workspace, ...request });
      expect(answer.isError).toBe(true);
    }
    const after = await session.call("bazel_inspect", { view: "invocations", limit: 1 });
    expect(after.fields["total_count"]).toBe(before.fields["total_count"]);
  });

  test("graph questions, history and comparison", async () => {
    const at = { workspace: place.workspace };
    const deps = await session.call("bazel_deps", { ...at, target: "//:g2" });
    expect(deps.fields["targets"]).toContain("genrule rule //:hello");
    const rdeps = await session.call("bazel_rdeps", {
      ...at,
      target: "//:hello",
      universe: "//:all",
      tests_only: true,
    });
    expect(rdeps.fields["targets"]).toEqual(["sh_test rule //:cachable_test"]);
    const history = await session.call("bazel_history", { kind: "outcomes", label: "//bad:fail_test" });
    expect(history.text).toContain('"status":"failed"');
    const flaky = await session.call("bazel_history", { kind: "flaky" });
    expect(flaky.text).toContain("//:flaky_test");
  });

  test.each(["fifo", "bes"])(
    "events by %s: the same answer, and the stream kept whole",
    async (transport) => {
      const other = await Session.open(place, ["--bep-transport", transport, "--config", config]);
      try {
        const answer = await other.call("bazel_run", {
          ...{ workspace: place.workspace, command: "test" },
          args: ["-k", "//:pass_test", "//bad:fail_test", "//bad:broken", sandbox],
        });
        expect(answer.fields).toMatchObject({ state: "failed", tests: { passed: 1, failed: 1 } });
        expect(answer.text).toContain("error: something broke");
        expect(answer.text).not.toContain("The build event stream is cut");
        const metrics = await other.call("bazel_inspect", {
          invocation_id: answer.fields["invocation_id"],
          view: "metrics",
        });
        expect(metrics.text).toMatch(/"bep_events":\d\d/);
      } finally {
        await other.close();
      }
    },
  );
});
