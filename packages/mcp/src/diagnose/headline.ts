import type { Category, Diagnostic, State, TargetCounts, TestCounts } from "../store/record.ts";

const failureLabel: Readonly<Record<Category, string>> = {
  workspace: "Workspace set-up failed",
  loading: "Loading failed",
  analysis: "Analysis failed",
  visibility: "Visibility error",
  action: "Action failed",
  compilation: "Compilation failed",
  test: "Tests failed",
  bazel: "Bazel failed",
  unknown: "Failed",
};

const headlineCharactersMax = 300;

/** What the headline is made from. */
export interface HeadlineFacts {
  readonly state: State;
  readonly command: string;
  readonly exitCode: number | null;
  readonly targets: TargetCounts;
  readonly tests: TestCounts;
  readonly diagnostics: readonly Diagnostic[];
  readonly rows: number | undefined;
  readonly reason: string;
}

/** One line: what happened, and on failure the cause. Never empty. */
export function headlineOf(facts: HeadlineFacts): string {
  const line = facts.state === "succeeded" ? successLine(facts) : failureLine(facts);
  const flat = line.replaceAll(/\s*\n\s*/g, " ");
  return flat.length <= headlineCharactersMax ? flat : `${flat.slice(0, headlineCharactersMax - 1)}…`;
}

function successLine(facts: HeadlineFacts): string {
  if (facts.rows !== undefined) return `${facts.rows} ${facts.rows === 1 ? "row" : "rows"}`;
  const { tests, targets } = facts;
  const run = tests.passed + tests.flaky;
  if (run + tests.skipped > 0) {
    const parts = [`${run} ${run === 1 ? "test" : "tests"} passed`];
    if (tests.flaky > 0) parts.push(`${tests.flaky} flaky`);
    if ((tests.cached ?? 0) > 0) parts.push(`${tests.cached} cached`);
    if (tests.skipped > 0) parts.push(`${tests.skipped} skipped`);
    return parts.join(", ");
  }
  if (targets.requested > 0) {
    return `${targets.succeeded} ${targets.succeeded === 1 ? "target" : "targets"} built`;
  }
  return `bazel ${facts.command} succeeded`;
}

function failureLine(facts: HeadlineFacts): string {
  const [first] = facts.diagnostics;
  const cause = first === undefined ? "" : causeText(first);
  switch (facts.state) {
    case "cancelled":
      return `Cancelled${facts.reason === "" ? "" : `: ${facts.reason}`}`;
    case "timed_out":
      return `Timed out${facts.reason === "" ? "" : ` ${facts.reason}`}${cause === "" ? "" : `; ${cause}`}`;
    case "interrupted":
      return `Interrupted: the server that ran it went away${cause === "" ? "" : `; ${cause}`}`;
    default:
      break;
  }
  const { tests } = facts;
  const bad = tests.failed + tests.incomplete;
  const label =
    first?.category === "test" && bad > 0
      ? `${bad} of ${bad + tests.passed + tests.flaky + tests.skipped} tests did not pass`
      : failureLabel[first?.category ?? "unknown"];
  if (cause !== "") return `${label}: ${cause}`;
  return facts.reason === ""
    ? `bazel ${facts.command} failed with exit code ${facts.exitCode ?? "unknown"}`
    : `Failed: ${facts.reason}`;
}

function causeText(diagnostic: Diagnostic): string {
  const { location, target } = diagnostic;
  const place = location === undefined ? "" : `${location.path}${location.line ? `:${location.line}` : ""}: `;
  const owner = target === undefined || diagnostic.message.includes(target) ? "" : ` (${target})`;
  return `${place}${diagnostic.message}${owner}`;
}
