import { build_event_stream } from "@millrace/proto/gen/bep";
import { google } from "@millrace/proto/gen/bes";
import { expect, test } from "vitest";
import { type CorpusRun, getRun, listRuns, readConsole, readInvocations } from "./corpus.ts";
import { decodeRequest, encodeRequest } from "./decode.ts";
import type { ExpectedBuild } from "./expected-build.ts";
import { reduceEvents, reduceRequests } from "./reduce.ts";

type Event = build_event_stream.BuildEvent.$Properties;

const typeUrl = "type.googleapis.com/build_event_stream.BuildEvent";

function reduceBep(...events: Event[]): ExpectedBuild {
  return reduceEvents(
    events.map((event, index) => {
      const value = build_event_stream.BuildEvent.encode(event).finish();
      const eventTime = { seconds: index + 1 };
      const content = { eventTime, bazelEvent: { type_url: typeUrl, value } };
      return {
        sequence: index + 1,
        event: google.devtools.build.v1.BuildEvent.encode(content).finish(),
      };
    }),
  );
}

function reduceRun(run: CorpusRun): ExpectedBuild[] {
  return readInvocations(run).map(reduceRequests);
}

const targetId = { targetCompleted: { label: "//a:b", configuration: { id: "c" } } };
const configured = {
  id: { targetConfigured: { label: "//a:b" } },
  children: [targetId],
  configured: { targetKind: "x rule", tag: ["t"] },
};
const built = { id: targetId, completed: { success: true } };
const failed = { id: targetId, completed: { failureDetail: { message: "why" } } };
const aborted = (reason: number, description = "") => ({ id: targetId, aborted: { reason, description } });

test.each(listRuns().map((run) => [run.name, run] as const))(
  "%s: status and exit code are Bazel's own",
  (_, run) => {
    for (const { invocation, ended, undecodable } of reduceRun(run)) {
      expect(undecodable).toBe(0);
      if (invocation.exitCode === undefined) {
        expect(invocation.status).toBe(ended ? "aborted" : "running");
        continue;
      }
      if (run.exitCode !== undefined) expect(invocation.exitCode).toBe(run.exitCode);
      expect(invocation.status).toBe(invocation.exitCode === 0 ? "succeeded" : "failed");
    }
  },
);

test("the flaky, sharded and passing tests of a good run", () => {
  for (const name of ["bazel2-test-ok", "bazel4-test-ok", "bazel7-test-ok"]) {
    const [build] = reduceRun(getRun(name));
    expect(build?.invocation).toMatchObject({ status: "succeeded", command: "test", patterns: ["//:all"] });
    expect(build?.invocation.counters).toEqual({
      ...{ targetsTotal: 41, targetsFailed: 0, testsTotal: 5, testsPassed: 4, testsFlaky: 1, testsFailed: 0 },
    });
    const flaky = build?.testResults.filter((result) => result.label === "//:flaky_test");
    expect(flaky?.map(({ attempt, status }) => [attempt, status])).toEqual([
      [1, 4],
      [2, 1],
    ]);
    const shards = build?.testResults.filter((result) => result.label === "//:shard_test");
    expect(shards?.map(({ shard }) => shard)).toEqual([1, 2, 3]);
  }
});

test("a bad run has failed targets, a timeout and failing tests", () => {
  for (const name of ["bazel2-test-bad", "bazel4-test-bad", "bazel7-test-bad"]) {
    const [build] = reduceRun(getRun(name));
    expect(build?.invocation).toMatchObject({ status: "failed", exitCode: 1, exitCodeName: "BUILD_FAILURE" });
    expect(build?.invocation.counters).toMatchObject({ targetsTotal: 6, targetsFailed: 3, testsFailed: 3 });
    expect(build?.testSummaries.map((summary) => summary.overallStatus).sort()).toEqual([3, 4, 4]);
  }
});

test("a build that builds nothing has targets that were not built, not failed ones", () => {
  const [build] = reduceRun(getRun("bazel7-nobuild"));
  expect(new Set(build?.targets.map((target) => target.status))).toEqual(new Set(["not-built"]));
  expect(build?.invocation).toMatchObject({ status: "succeeded", counters: { targetsFailed: 0 } });
});

test("an aspect is a row of its own beside its target", () => {
  for (const name of ["bazel2-aspects", "bazel4-aspects", "bazel7-aspects"]) {
    const [build] = reduceRun(getRun(name));
    const rows = build?.targets.map(({ label, aspect, status }) => [label, aspect, status]);
    expect(rows).toEqual([
      ["//:fg", "", "built"],
      ["//:fg", "//:defs.bzl%my_aspect", "built"],
    ]);
    expect(build?.invocation.counters.targetsTotal).toBe(1);
  }
});

test("a broken connection makes no difference to the build", () => {
  const joined = reduceRun(getRun("bazel7-drop"))[0];
  expect(joined?.events.map((event) => event.sequence)).toEqual(Array.from({ length: 184 }, (_, n) => n + 1));
  expect(joined?.events.at(-1)?.kind).toBe("stream-finished");
});

/** Lines without what is printed only once per machine (the server's start, URLs) or redrawn. */
function linesOf(text: Buffer): string[] {
  return text
    .toString()
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function isSubsequence(part: readonly string[], whole: readonly string[]): boolean {
  let at = 0;
  for (const line of part) {
    at = whole.indexOf(line, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

// Bazel 2 and 4 print test output between lines of stderr that one progress event holds together: no order of its two
// texts gives the console back. In 19 of the 22 runs with such events stderr first does, in none stdout first.
const interleaved = ["bazel2-cquery", "bazel2-test-bad", "bazel4-test-bad"];
const consoles = listRuns().filter(
  (run) => readConsole(run) !== undefined && !interleaved.includes(run.name),
);

test.each(consoles.map((run) => [run.name, run] as const))(
  "%s: the log has the console's order",
  (_, run) => {
    const log = linesOf(reduceRun(run)[0]?.log ?? Buffer.alloc(0));
    expect(isSubsequence(log, linesOf(readConsole(run) ?? Buffer.alloc(0)))).toBe(true);
  },
);

test("a real result beats an abort, whichever comes first", () => {
  const late = reduceBep(configured, built, aborted(10)).targets;
  const early = reduceBep(aborted(10), configured, built).targets;
  expect(late).toMatchObject([{ status: "built", abortReason: undefined, completedAtMs: 2000 }]);
  expect(early).toMatchObject([{ status: "built", abortReason: undefined, completedAtMs: 3000 }]);
  expect(early).toMatchObject([{ targetKind: "x rule", tags: ["t"] }]);
});

test("skipped and not built are statuses of their own, not failures", () => {
  expect(reduceBep(aborted(7)).targets).toMatchObject([{ status: "skipped", abortReason: "SKIPPED" }]);
  expect(reduceBep(aborted(9)).targets).toMatchObject([{ status: "not-built", abortReason: "NO_BUILD" }]);
  expect(reduceBep(aborted(8)).targets).toMatchObject([{ status: "not-built" }]);
  expect(reduceBep(aborted(6, "why")).targets).toMatchObject([{ status: "aborted", failureMessage: "why" }]);
  expect(reduceBep(aborted(99)).targets).toMatchObject([{ status: "aborted", abortReason: "99" }]);
  expect(reduceBep(aborted(7)).invocation.counters.targetsFailed).toBe(0);
});

test("a failure beats everything and counts", () => {
  const { targets, invocation } = reduceBep(built, failed, aborted(10));
  expect(targets).toMatchObject([{ status: "failed", failureMessage: "why" }]);
  expect(invocation.counters.targetsFailed).toBe(1);
});

test("only announced targets are rows, not labels that failed to load", () => {
  const labels = { id: { configuredLabel: { label: "//x" } }, aborted: { reason: 6 } };
  expect(reduceBep(labels, { id: { unconfiguredLabel: { label: "//y" } }, aborted: {} }).targets).toEqual([]);
});

test("an aspect is the same however the main repository is written", () => {
  const id = (aspect: string) => ({ targetCompleted: { label: "//a", aspect } });
  const rows = reduceBep(
    { id: id("@@//:d.bzl%x"), completed: { success: true } },
    { id: id("//:d.bzl%x"), completed: {} },
    { id: id("@other//:d.bzl%x"), completed: {} },
  ).targets;
  expect(rows.map(({ aspect, status }) => [aspect, status])).toEqual([
    ["//:d.bzl%x", "failed"],
    ["@other//:d.bzl%x", "failed"],
  ]);
});

test("stderr of an event comes before its stdout, and any bytes are kept", () => {
  const progress = Buffer.from([0x1a, 6, 0x0a, 1, 0xff, 0x12, 1, 0xfe]);
  const any = { type_url: typeUrl, value: progress };
  const event = google.devtools.build.v1.BuildEvent.encode({ bazelEvent: any }).finish();
  expect([...reduceEvents([{ sequence: 1, event }]).log]).toEqual([0xfe, 0xff]);
});

test("events that are no BEP are counted and listed", () => {
  const encode = google.devtools.build.v1.BuildEvent.encode;
  const foreign = encode({ bazelEvent: { type_url: "example.com/a.B", value: Buffer.from("x") } }).finish();
  const garbage = encode({ bazelEvent: { type_url: typeUrl, value: Buffer.from([0xff]) } }).finish();
  const build = reduceEvents([
    { sequence: 1, event: foreign },
    { sequence: 2, event: garbage },
    { sequence: 3, event: encode({ consoleOutput: {} }).finish() },
    { sequence: 4, event: encode({ componentStreamFinished: { type: 1 } }).finish() },
  ]);
  expect(build.events.map((event) => event.kind)).toEqual([
    "undecodable",
    "undecodable",
    "other",
    "stream-finished",
  ]);
  expect(build).toMatchObject({ undecodable: 2, ended: true, invocation: { status: "aborted" } });
});

test("a request is encoded for another stream with its event untouched", () => {
  for (const request of readInvocations(getRun("bazel7-test-ok"))[0] ?? []) {
    const decoded = decodeRequest(request);
    expect(encodeRequest(decoded).equals(request)).toBe(true);
    const moved = decodeRequest(encodeRequest({ ...decoded, invocationId: "other" }));
    expect(moved.invocationId).toBe("other");
    expect(Buffer.from(moved.event).equals(decoded.event)).toBe(true);
  }
});
