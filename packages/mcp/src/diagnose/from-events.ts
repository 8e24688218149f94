import { abortReason, protocolName } from "@millrace/proto/bep/enums";
import type { AbortRecord, FailedAction, Reduced } from "../reduce/reduced.ts";
import type { TestRecord } from "../reduce/test-table.ts";
import type { Category } from "../store/record.ts";
import { bazelCategory } from "./bazel-rules.ts";
import type { Candidate } from "./rank.ts";
import type { Finding } from "./rules.ts";
import { scanText, tellingLines } from "./scan-text.ts";

/** Text of a file that the build named; undefined when it cannot be had. */
export type TextOf = (uri: string | undefined) => string | undefined;

const findingsPerText = 5;
const actionsRead = 50;
const tellingLineCount = 3;

/** Diagnostics of what failed, from each failed action's own output. */
export function fromActions(reduced: Reduced, textOf: TextOf): Candidate[] {
  const tests = new Set(reduced.tests.map((test) => test.label));
  return reduced.failedActions
    .filter((action) => !(action.mnemonic === "TestRunner" && tests.has(action.label)))
    .slice(0, actionsRead)
    .flatMap((action) => fromAction(action, textOf));
}

function fromAction(action: FailedAction, textOf: TextOf): Candidate[] {
  const about = {
    ...(action.label === "" ? {} : { target: action.label }),
    ...(action.mnemonic === "" ? {} : { action: action.mnemonic }),
  };
  const text = [textOf(action.stderr?.uri), textOf(action.stdout?.uri)].filter((one) => one !== undefined);
  const findings = scanText(text.join("\n"), "action").filter((finding) => finding.severity === "error");
  if (findings.length > 0) return firstOf(findings).map((finding) => ({ ...finding, ...about }));
  const telling = tellingLines(text.join("\n"), tellingLineCount).join("\n");
  const summary = `${action.mnemonic || "An"} action failed with exit code ${action.exitCode}`;
  const reason = firstLine(action.failureMessage);
  const message = telling !== "" ? telling : reason === "" ? summary : `${summary}: ${reason}`;
  return [{ severity: "error", category: "action", message, ...about, ...unexplainedIf(telling === "") }];
}

function unexplainedIf(condition: boolean): { readonly isUnexplained?: true } {
  return condition ? { isUnexplained: true } : {};
}

/** Causes before consequences, a few of them. */
function firstOf(findings: readonly Finding[]): readonly Finding[] {
  const causes = findings.filter((finding) => finding.isConsequence !== true);
  return (causes.length > 0 ? causes : findings).slice(0, findingsPerText);
}

function firstLine(text: string): string {
  return text.split("\n")[0]?.trim() ?? "";
}

const abortCategory: Readonly<Record<number, Category>> = {
  [abortReason.loadingFailure]: "loading",
  [abortReason.analysisFailure]: "analysis",
};

/** What a consequence is, said once for all of its kind. */
const notes: readonly (readonly [number, string])[] = [
  [abortReason.skipped, "skipped (incompatible or not asked for)"],
  [abortReason.incomplete, "not finished because the build stopped"],
  [abortReason.noBuild, "not built (--nobuild)"],
  [abortReason.noAnalyze, "not analysed (--noanalyze)"],
];

/** Aborted events: causes are errors; what only follows is one note per reason. */
export function fromAborts(reduced: Reduced): Candidate[] {
  const causes = reduced.aborts
    .filter((abort) => abort.description !== "" || abort.label !== "")
    .map((abort) => fromAbort(abort));
  const counted = notes.flatMap(([reason, text]): Candidate[] => {
    const count = reduced.abortCounts.get(reason) ?? 0;
    if (count === 0) return [];
    return [
      {
        severity: "note",
        category: "bazel",
        message: `${count} ${count === 1 ? "target" : "targets"} ${text}`,
      },
    ];
  });
  return [...causes, ...counted];
}

function fromAbort(abort: AbortRecord): Candidate {
  const description = abort.description.trim();
  const worded = description === "" ? "unknown" : bazelCategory(description);
  const byReason = abortCategory[abort.reason];
  const category = byReason === undefined || worded === "visibility" ? worded : byReason;
  const name = protocolName(abortReason, abort.reason).toLowerCase().replaceAll("_", " ");
  return {
    severity: "error",
    category: category === "unknown" ? "bazel" : category,
    message: description === "" ? name : description,
    ...(abort.label === "" ? {} : { target: abort.label }),
    // Without words of its own it only repeats that something below it failed.
    isConsequence: description === "" || /^error loading package '[^']*': Package/.test(description),
  };
}

const statusText: Readonly<Record<string, string>> = {
  failed: "failed",
  timed_out: "timed out",
  incomplete: "did not finish",
  remote_failure: "could not be run remotely",
  failed_to_build: "failed to build",
};

/** A test that did not pass: the cause from its log, or at least its last words. */
export function fromTest(test: TestRecord, log: string | undefined): Candidate[] {
  const status = statusText[test.status];
  if (status === undefined) return [];
  const about = { target: test.label };
  const findings = log === undefined ? [] : scanText(log, "test");
  const summary = `${test.label} ${status}`;
  if (findings.length > 0 && test.status !== "timed_out") {
    return firstOf(findings).map((finding) => ({ ...finding, category: "test" as const, ...about }));
  }
  const words = log === undefined ? "" : tellingLines(log, tellingLineCount).join("\n");
  const duration = test.status === "timed_out" ? ` after ${(test.durationMs / 1000).toFixed(1)} s` : "";
  const details = test.statusDetails === "" ? "" : ` (${firstLine(test.statusDetails)})`;
  return [
    {
      severity: "error",
      category: "test",
      message: `${summary}${duration}${details}${words === "" ? "" : `: ${words}`}`,
      ...about,
      isConsequence: test.status === "failed_to_build",
      isUnexplained: true,
    },
  ];
}
