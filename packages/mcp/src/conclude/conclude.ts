import type { Clock } from "@millrace/base/clock";
import { fromAborts, fromActions, fromTest, type TextOf } from "../diagnose/from-events.ts";
import { headlineOf } from "../diagnose/headline.ts";
import { createShortener, shortenLocation } from "../diagnose/paths.ts";
import { type Candidate, rank } from "../diagnose/rank.ts";
import { tellingLines } from "../diagnose/scan-text.ts";
import { coverageTotals } from "../evidence/lcov.ts";
import { type AllowedRoots, allowedRootsOf, readEnds, resolveUri } from "../evidence/local-file.ts";
import { type TestEvidence, TestLogs } from "../evidence/test-logs.ts";
import { countRows, fileStart, readRows } from "../pages/row-page.ts";
import type { Redactor } from "../redact/redactor.ts";
import type { Reduced } from "../reduce/reduced.ts";
import type { TestRecord } from "../reduce/test-table.ts";
import type { Details } from "../store/details.ts";
import { file } from "../store/layout.ts";
import type { Diagnostic, Invocation, Row, State, Summary } from "../store/record.ts";
import type { Store } from "../store/store.ts";
import { collectArtifacts, collectCoverage } from "./artifacts.ts";
import { countTargets, countTests, targetDetails, testDetail } from "./counts.ts";
import { scanLog, tailOf } from "./scan-log.ts";

const diagnosticsKept = 50;
const testLogsRead = 50;
const actionOutputHalfBytes = 256 << 10;
const messageCharactersMax = 1500;
const sampleRows = 3;
const lastWordsBytes = 16 << 10;

/** Commands whose standard output is the answer, line by line. */
export const rowCommands: ReadonlySet<string> = new Set(["query", "cquery", "aquery"]);
/** Commands that print something to read. */
export const textCommands: ReadonlySet<string> = new Set(["info", "help", "version", "mod"]);

/** What a finished process leaves to be understood. */
export interface Ending {
  readonly invocation: Invocation;
  readonly reduced: Reduced;
  readonly state: State;
  readonly exitCode: number | null;
  /** Why, when it did not end by itself. */
  readonly reason: string;
  readonly finishedAtMs: number;
  /** What is wrong with the event stream, in words; "" if nothing. */
  readonly bepFault: string;
  /** Whether the build ran on this machine, so that files its events name may be read. */
  readonly filesAre: "here" | "elsewhere";
}

export interface Tools {
  readonly store: Store;
  readonly redactor: Redactor;
  readonly clock: Clock;
}

/**
 * Turns the evidence of one invocation into its summary and sidecars, while what Bazel left behind is still there (the next
 * command may remove it). Everything is redacted before it is written.
 */
export async function conclude(ending: Ending, tools: Tools): Promise<Summary> {
  const { invocation, reduced } = ending;
  const id = invocation.request.id;
  const { workspace } = invocation.request;
  const roots = ending.filesAre === "here" ? allowedRootsOf({ execRoot: reduced.execRoot, workspace }) : [];
  const logs = new TestLogs({ roots, redact: tools.redactor.text });
  const failing = reduced.tests.filter((test) => test.status !== "passed" && test.status !== "skipped");
  const evidence = new Map<TestRecord, TestEvidence>();
  for (const test of failing.slice(0, testLogsRead)) evidence.set(test, logs.collect(test));
  logs.write(tools.store.pathOf(id, file.testLogs));
  const candidates = await gather(ending, { tools, roots, evidence });
  const diagnostics = rank(candidates.map(tidyUp(ending, tools)), diagnosticsKept);
  const isTruncated = writeSidecars(ending, { tools, roots, evidence });
  return summarise(ending, {
    tools,
    diagnostics,
    isTruncated: isTruncated || candidates.length > diagnosticsKept,
  });
}

interface Gathering {
  readonly tools: Tools;
  readonly roots: AllowedRoots;
  readonly evidence: ReadonlyMap<TestRecord, TestEvidence>;
}

async function gather(ending: Ending, at: Gathering): Promise<Candidate[]> {
  const { reduced, invocation } = ending;
  const textOf: TextOf = (uri) => {
    if (uri === undefined) return undefined;
    const found = resolveUri(uri, at.roots);
    return found.kind === "path" ? readEnds(found.path, actionOutputHalfBytes) : undefined;
  };
  const fromEvents = [
    ...fromActions(reduced, textOf),
    ...fromAborts(reduced),
    ...reduced.tests.flatMap((test) => fromTest(test, at.evidence.get(test)?.log)),
  ];
  const notes: Candidate[] =
    ending.bepFault === "" || ending.state === "succeeded"
      ? []
      : [
          {
            severity: "note",
            category: "bazel",
            message: `The build event stream is cut: ${ending.bepFault}`,
          },
        ];
  if (ending.state === "succeeded") return [...fromEvents.filter(({ severity }) => severity !== "error")];
  const stderr = at.tools.store.pathOf(invocation.request.id, file.stderr);
  const findings = (await scanLog(stderr, "bazel")).filter(({ severity }) => severity === "error");
  const texts = findings.filter((finding) => !repeatsAction(finding.category, fromEvents));
  const all = [...fromEvents, ...texts, ...notes];
  return all.some(({ severity }) => severity === "error") ? all : [...all, ...lastWords(ending, at.tools)];
}

/**
 * Compiler output on the terminal repeats what the failed action's own output says, which also names the target; unless that output
 * is out of reach, in a remote cache or on another machine: then the terminal alone knows.
 */
function repeatsAction(category: string, fromEvents: readonly Candidate[]): boolean {
  const errors = fromEvents.filter((one) => one.severity === "error" && one.isConsequence !== true);
  if (category === "test") return errors.length > 0;
  const isOfAction = category === "compilation" || category === "action";
  const isUnexplained = errors.some((one) => one.category === "action" && one.isUnexplained === true);
  return isOfAction && errors.length > 0 && !isUnexplained;
}

/** When nothing was recognised: what Bazel says itself, else the last lines of its output. */
function lastWords(ending: Ending, tools: Tools): Candidate[] {
  if (ending.state !== "failed") return [];
  const id = ending.invocation.request.id;
  const lines = [file.stderr, file.stdout].flatMap((name) =>
    tellingLines(tailOf(tools.store.pathOf(id, name), lastWordsBytes), 3),
  );
  const said = ending.reduced.failureMessage.split("\n")[0] ?? "";
  const message = said !== "" ? said : lines.join("\n");
  return message === "" ? [] : [{ severity: "error", category: "bazel", message }];
}

function tidyUp(ending: Ending, tools: Tools): (candidate: Candidate) => Candidate {
  const shorten = createShortener(ending.invocation.request.workspace);
  return (candidate) => {
    const message = tools.redactor.text(shorten(candidate.message)).slice(0, messageCharactersMax);
    return {
      ...candidate,
      message,
      ...(candidate.location === undefined ? {} : { location: shortenLocation(candidate.location, shorten) }),
    };
  };
}

/** Returns whether something had to be left out. */
function writeSidecars(ending: Ending, at: Gathering): boolean {
  const { reduced, invocation } = ending;
  const { store, redactor } = at.tools;
  const isCoverage = invocation.request.command === "coverage";
  const coverage = isCoverage ? collectCoverage(reduced, at.roots) : { files: [], reason: undefined };
  const metrics = Object.entries(reduced.metrics ?? {}).filter(([, value]) => value !== 0);
  const details: Details = {
    ...(reduced.targets.length === 0 ? {} : { targets: targetDetails(reduced) }),
    ...(reduced.tests.length === 0
      ? {}
      : { tests: reduced.tests.map((test) => testDetail(test, at.evidence.get(test))) }),
    ...(coverage.files.length === 0 ? {} : { coverage_files: coverage.files }),
    ...(coverage.reason === undefined ? {} : { coverage_reason: coverage.reason }),
    ...(metrics.length === 0 ? {} : { build_metrics: Object.fromEntries(metrics) }),
  };
  store.writeSidecar(invocation.request.id, file.details, details);
  const { artifacts, isTruncated } = collectArtifacts(reduced, { roots: at.roots, redact: redactor.text });
  store.writeSidecar(invocation.request.id, file.artifacts, artifacts);
  return isTruncated || reduced.isTruncated;
}

function summarise(
  ending: Ending,
  at: { tools: Tools; diagnostics: readonly Diagnostic[]; isTruncated: boolean },
): Summary {
  const { reduced, invocation } = ending;
  const { request } = invocation;
  const targets = countTargets(reduced);
  const tests = countTests(reduced.tests);
  const hasRows = rowCommands.has(request.command) && ending.filesAre === "here";
  const rows = hasRows ? rowsOf(invocation, at.tools) : undefined;
  const details = at.tools.store.readSidecar<Details>(request.id, file.details);
  const files = details?.coverage_files ?? [];
  const headline = headlineOf({
    ...{ state: ending.state, command: request.command, exitCode: ending.exitCode },
    ...{ targets, tests, diagnostics: at.diagnostics, rows: rows?.count, reason: ending.reason },
  });
  const hint = hintFor(ending, { rows: rows?.count ?? 0, isTruncated: at.isTruncated, details });
  return {
    headline,
    targets,
    tests,
    ...(at.diagnostics.length === 0 ? {} : { diagnostics: at.diagnostics }),
    ...(files.length === 0 ? {} : { coverage: coverageTotals(files) }),
    ...(rows === undefined ? {} : { query_result_count: rows.count, query_sample: rows.sample }),
    elapsed_ms: Math.max(0, ending.finishedAtMs - (invocation.started_at_ms ?? ending.finishedAtMs)),
    ...(at.isTruncated ? { truncated: true } : {}),
    ...(hint === undefined ? {} : { inspect_hint: hint }),
  };
}

function rowsOf(invocation: Invocation, tools: Tools): { count: number; sample: readonly Row[] } {
  const path = tools.store.pathOf(invocation.request.id, file.stdout);
  const page = readRows({
    ...{ path, from: fileStart, limit: sampleRows, timeBudgetMs: 100, clock: tools.clock },
    redact: tools.redactor.text,
  });
  return { count: countRows(path) ?? 0, sample: page.rows };
}

/** The view that is worth looking into next, if any. */
function hintFor(
  ending: Ending,
  at: { rows: number; isTruncated: boolean; details: Details | undefined },
): string | undefined {
  const { command } = ending.invocation.request;
  if (at.rows > sampleRows) return "query_results";
  if (ending.state === "succeeded") return textCommands.has(command) ? "log" : undefined;
  if (at.isTruncated) return "diagnostics";
  const hasTestLog = at.details?.tests?.some((test) => test.test_log_available && test.status !== "flaky");
  return hasTestLog === true ? "test_log" : "log";
}
