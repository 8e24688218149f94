import { countTargets, countTests } from "../conclude/counts.ts";
import type { Reduced } from "../reduce/reduced.ts";
import type { Diagnostic, Invocation, TestCounts } from "../store/record.ts";
import { type Encoded, encodeResult, type Json, type JsonObject, type ResultEncoding } from "./encode.ts";
import { cutText, pack } from "./pack.ts";

export const successBytesMax = 2048;
export const failureBytesMax = 8192;
const firstMessageBytes = 1500;
const messageBytes = 500;

/** A diagnostic as it is shown: flat, so that several make a table. */
export function diagnosticRow(diagnostic: Diagnostic, isFirst: boolean): JsonObject {
  const { location } = diagnostic;
  const place =
    location === undefined
      ? ""
      : [location.path, location.line, location.column].filter((part) => part !== undefined).join(":");
  return {
    severity: diagnostic.severity,
    category: diagnostic.category,
    location: place,
    target: diagnostic.target ?? "",
    message: cutText(diagnostic.message, isFirst ? firstMessageBytes : messageBytes),
    ...(diagnostic.repetition_count === undefined ? {} : { repeated: diagnostic.repetition_count }),
  };
}

/** The answer to a finished run: within its budget, the cause first, and exactly what to ask next. */
export function finishedAnswer(
  invocation: Invocation,
  at: { encoding: ResultEncoding; views: readonly string[]; output: string },
): Encoded {
  const { summary, request, run } = invocation;
  const isSuccess = invocation.state === "succeeded";
  const maxBytes = isSuccess ? successBytesMax : failureBytesMax;
  const diagnostics = (summary?.diagnostics ?? []).map((one, index) => diagnosticRow(one, index === 0));
  const fixed = (headlineBytes: number, commandBytes: number): JsonObject => ({
    invocation_id: request.id,
    state: invocation.state,
    command: cutText(request.command, commandBytes),
    exit_code: invocation.termination?.kind === "exit" ? invocation.termination.code : null,
    duration_ms: summary?.elapsed_ms ?? 0,
    headline: cutText(summary?.headline ?? "", headlineBytes),
    ...(at.output === "" ? {} : { output: at.output }),
    ...countsOf(invocation),
    ...(summary?.query_result_count === undefined ? {} : { query_result_count: summary.query_result_count }),
    ...(summary?.coverage === undefined ? {} : { coverage: { ...summary.coverage } }),
    ...(run === undefined ? {} : { run: runFields(run) }),
    ...(summary?.truncated === true ? { truncated: true } : {}),
    available_views: [...at.views],
    ...(at.output === "" ? nextOf(invocation) : {}),
  });
  const lists = [
    { name: "output_excerpt", items: run?.output_excerpt ?? [], minimum: 0 },
    { name: "query_sample", items: (summary?.query_sample ?? []).map((row) => ({ ...row })), minimum: 0 },
    { name: "diagnostics", items: diagnostics as Json[], minimum: 1 },
  ];
  const packed = pack(fixed(300, 64), { lists, maxBytes, encoding: at.encoding });
  const isCut = [...packed.dropped.values()].some((count) => count > 0);
  const value = isCut ? { ...packed.value, more_available: true } : packed.value;
  const encoded = encodeResult(value, at.encoding);
  if (encoded.bytes <= maxBytes) return encoded;
  // A very long first diagnostic: it is cut until the whole fits.
  const [first] = diagnostics;
  const smaller = first === undefined ? [] : [{ ...first, message: cutText(String(first.message), 300) }];
  const least = pack(fixed(96, 32), {
    lists: [{ name: "diagnostics", items: smaller, minimum: 0 }],
    maxBytes: maxBytes - 32,
    encoding: at.encoding,
  });
  return encodeResult({ ...least.value, more_available: true }, at.encoding);
}

function countsOf(invocation: Invocation): JsonObject {
  const { targets, tests } = invocation.summary ?? {};
  const hasTargets = targets !== undefined && targets.requested + targets.succeeded + targets.failed > 0;
  const hasTests = tests !== undefined && Object.values(tests).some((count) => count > 0);
  return {
    ...(hasTargets ? { targets: { ...targets } } : {}),
    ...(hasTests ? { tests: { ...tests } } : {}),
  };
}

function runFields(run: NonNullable<Invocation["run"]>): JsonObject {
  return {
    target: run.target,
    outcome: run.outcome,
    ...(run.program_exit_code === undefined ? {} : { program_exit_code: run.program_exit_code }),
  };
}

/** The follow-up that most likely helps, ready to be called. */
function nextOf(invocation: Invocation): JsonObject {
  const hint = invocation.summary?.inspect_hint;
  if (hint === undefined) return {};
  const [first] = invocation.summary?.diagnostics ?? [];
  const filter = hint === "test_log" && first?.target !== undefined ? `, "filter": "${first.target}"` : "";
  return {
    inspect_hint: hint,
    next: `bazel_inspect {"invocation_id": "${invocation.request.id}", "view": "${hint}"${filter}}`,
  };
}

/** What is known of a run that is not over. */
export interface Progress {
  readonly invocation: Invocation;
  readonly phase: string;
  readonly elapsedMs: number;
  readonly reduced: Reduced;
}

/** The answer while Bazel still works: the id, how far it is, and how to go on waiting. */
export function runningAnswer(progress: Progress, encoding: ResultEncoding): Encoded {
  return encodeResult(
    {
      invocation_id: progress.invocation.request.id,
      state: progress.invocation.state,
      command: progress.invocation.request.command,
      elapsed_ms: Math.round(progress.elapsedMs),
      headline: progressText(progress),
      next: `bazel_inspect {"invocation_id": "${progress.invocation.request.id}", "view": "summary", "wait_ms": 30000}`,
    },
    encoding,
  );
}

/** One line on how far a run is. */
export function progressText(progress: Progress): string {
  if (progress.phase !== "") return progress.phase;
  const { reduced } = progress;
  const tests = countTests(reduced.tests);
  const targets = countTargets(reduced);
  const parts = [`running for ${Math.round(progress.elapsedMs / 1000)} s`];
  const done = targets.succeeded + targets.failed;
  if (targets.requested > 0) parts.push(`${done} of ${targets.requested} targets done`);
  if (reduced.tests.length > 0) parts.push(testText(tests));
  if (reduced.failedActionCount > 0) parts.push(`${reduced.failedActionCount} failed actions`);
  const [failed] = reduced.failedActions;
  if (failed !== undefined) parts.push(`first failure: ${failed.mnemonic} of ${failed.label}`);
  return parts.join(", ");
}

function testText(tests: TestCounts): string {
  const bad = tests.failed + tests.incomplete;
  return `${tests.passed + tests.flaky} tests passed${bad > 0 ? `, ${bad} did not` : ""}`;
}
