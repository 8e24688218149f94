import { existsSync } from "node:fs";
import type { Json, JsonObject } from "../answer/encode.ts";
import { diagnosticRow } from "../answer/run-answer.ts";
import { refuse } from "../run/policy.ts";
import type { Artifact, Details } from "../store/details.ts";
import { file } from "../store/layout.ts";
import type { Invocation } from "../store/record.ts";
import type { ToolContext } from "../tools/context.ts";
import { logFileOf, type ViewName, viewsOf } from "./availability.ts";
import { filePage } from "./file-page.ts";
import { listPage } from "./list-page.ts";
import type { Page, PageRequest } from "./page.ts";
import { testLogPage } from "./test-log-page.ts";

/** One page of one view of one invocation. */
export async function viewPage(
  invocation: Invocation,
  at: { view: Exclude<ViewName, "invocations">; request: PageRequest; context: ToolContext },
): Promise<Page> {
  const { store } = at.context;
  const { id } = invocation.request;
  const list = (items: readonly JsonObject[]): Page =>
    listPage(items, { request: at.request, scope: at.view, id });
  const details = (): Details => store.readSidecar<Details>(id, file.details) ?? {};
  switch (at.view) {
    case "summary":
      return list([summaryItem(invocation, at.context)]);
    case "metrics":
      return list([metricsItem(invocation, details())]);
    case "diagnostics":
      return list((invocation.summary?.diagnostics ?? []).map((one) => diagnosticRow(one, true)));
    case "targets":
      return list((details().targets ?? []).map((target) => ({ ...target })));
    case "tests":
      return list((details().tests ?? []).map((test) => ({ ...test })) as unknown as JsonObject[]);
    case "coverage":
      return list(coverageItems(details()));
    case "artifacts":
      return list(
        (store.readSidecar<Artifact[]>(id, file.artifacts) ?? []).map((artifact) => ({ ...artifact })),
      );
    case "test_log":
      return testLogs(invocation, at);
    default:
      return lines(invocation, { ...at, view: at.view });
  }
}

function coverageItems(details: Details): JsonObject[] {
  if (details.coverage_files !== undefined) return details.coverage_files.map((one) => ({ ...one }));
  return details.coverage_reason === undefined ? [] : [{ availability_reason: details.coverage_reason }];
}

async function testLogs(
  invocation: Invocation,
  at: { request: PageRequest; context: ToolContext },
): Promise<Page> {
  const { store } = at.context;
  const { id } = invocation.request;
  const state = viewsOf(invocation, store).test_log;
  if (state !== "available") {
    throw refuse(
      "view-empty",
      `invocation ${id} has no test log to show (${state}): logs are kept of tests that did not pass; view "tests" says why one is missing`,
    );
  }
  return testLogPage({ path: store.pathOf(id, file.testLogs), request: at.request, id });
}

function lines(
  invocation: Invocation,
  at: { view: "query_results" | "log"; request: PageRequest; context: ToolContext },
): Page {
  const { store, redactor, clock } = at.context;
  const { id, command } = invocation.request;
  const state = viewsOf(invocation, store)[at.view];
  if (state === "not_applicable") {
    throw refuse("view-empty", `bazel ${command} has no ${at.view}; query, cquery and aquery have`);
  }
  if (state === "expired") {
    throw refuse(
      "view-expired",
      `the raw output of invocation ${id} has been removed by retention; its summary remains. Run it again to see it`,
    );
  }
  const isRows = at.view === "query_results";
  const stream = at.request.stream ?? (isRows ? "stdout" : undefined);
  const name = stream === undefined ? logFileOf(command) : stream === "stdout" ? file.stdout : file.stderr;
  // A failed query prints to stderr what an info would print to stdout.
  const isFallback =
    stream === undefined && invocation.termination?.kind === "exit" && invocation.state === "failed";
  // What was copied from a Millrace server has one log, whatever the command.
  const isElsewhere = stream === undefined && !isRows && !existsSync(store.pathOf(id, name));
  const chosen = isFallback || isElsewhere ? file.stderr : name;
  return filePage({
    path: store.pathOf(id, chosen),
    request: at.request,
    scope: at.view,
    id,
    redactor,
    clock,
    kind: isRows ? "rows" : "log",
    totalCount: isRows ? (invocation.summary?.query_result_count ?? null) : null,
  });
}

function summaryItem(invocation: Invocation, context: ToolContext): JsonObject {
  const { summary } = invocation;
  const views = viewsOf(invocation, context.store);
  return {
    state: invocation.state,
    command: invocation.request.command,
    arguments: [...(invocation.request.arguments ?? [])],
    headline: summary?.headline ?? "",
    elapsed_ms: summary?.elapsed_ms ?? 0,
    targets: { ...summary?.targets },
    tests: { ...summary?.tests } as JsonObject,
    ...(summary?.coverage === undefined ? {} : { coverage: { ...summary.coverage } }),
    ...(summary?.query_result_count === undefined ? {} : { query_result_count: summary.query_result_count }),
    ...(summary?.query_sample === undefined
      ? {}
      : { query_sample: summary.query_sample.map((row) => ({ ...row })) }),
    ...(invocation.run === undefined ? {} : { run: { ...invocation.run } }),
    diagnostics: (summary?.diagnostics ?? [])
      .slice(0, 5)
      .map((one, index) => diagnosticRow(one, index === 0)),
    ...(summary?.truncated === true ? { truncated: true } : {}),
    ...(summary?.inspect_hint === undefined ? {} : { inspect_hint: summary.inspect_hint }),
    views: { ...views },
  };
}

function metricsItem(invocation: Invocation, details: Details): JsonObject {
  return {
    state: invocation.state,
    requested_at_ms: invocation.request.requested_at_ms,
    started_at_ms: invocation.started_at_ms ?? null,
    finished_at_ms: invocation.finished_at_ms ?? null,
    termination: (invocation.termination === undefined ? null : { ...invocation.termination }) as Json,
    metrics: { ...invocation.metrics },
    ...(details.build_metrics === undefined ? {} : { build_metrics: { ...details.build_metrics } }),
    payload_bytes: invocation.payload_bytes,
  };
}
