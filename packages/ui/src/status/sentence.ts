import type { Build } from "@millrace/client/client";
import { countOf, countText } from "../format/amounts.ts";
import { buildLooks } from "./status.ts";

/** What people call it: by its command. */
export function nounOf(command: string | null): string {
  if (command === "test" || command === "coverage") return "test run";
  return command === "build" || command === null ? "build" : command;
}

/** The result in one sentence without a full stop: `Failed: 1 of 231 tests, 2 targets`. */
export function resultSentence(build: Build): string {
  const { word } = buildLooks[build.status];
  if (build.status === "running") return runningSentence(build);
  const failures = failureParts(build);
  if (failures.length > 0) return `${word}: ${failures.join(", ")}`;
  const counts = countParts(build);
  if (build.status !== "succeeded") {
    const exit = build.exitCodeName === null ? [] : [exitText(build)];
    return [word, ...exit].join(": ");
  }
  return counts.length === 0 ? word : `${word}: ${counts.join(", ")}`;
}

function runningSentence(build: Build): string {
  const { targets, tests } = build;
  const parts: string[] = [];
  if (targets.total > 0) parts.push(`${countText(targets.done)} of ${countOf(targets.total, "target")} done`);
  if (tests.total > 0) parts.push(`${countOf(tests.total, "test")} finished`);
  const failed = tests.failed + targets.failed;
  if (failed > 0) parts.push(`${countText(failed)} failed so far`);
  return parts.length === 0 ? "Running" : `Running: ${parts.join(", ")}`;
}

function failureParts(build: Build): string[] {
  const { targets, tests } = build;
  const parts: string[] = [];
  if (tests.failed > 0) parts.push(`${countText(tests.failed)} of ${countOf(tests.total, "test")}`);
  if (targets.failed > 0) parts.push(countOf(targets.failed, "target"));
  return parts;
}

function countParts(build: Build): string[] {
  const { targets, tests } = build;
  const parts: string[] = [];
  if (tests.total > 0) parts.push(countOf(tests.total, "test"));
  if (tests.flaky > 0) parts.push(`${countText(tests.flaky)} flaky`);
  if (tests.total === 0 && targets.total > 0) parts.push(countOf(targets.total, "target"));
  return parts;
}

/** `exit 3 (TESTS_FAILED)`. */
export function exitText(build: Build): string {
  if (build.exitCode === null) return "";
  return build.exitCodeName === null
    ? `exit ${build.exitCode}`
    : `exit ${build.exitCode} (${build.exitCodeName})`;
}

/** The command line as a person would type it again. */
export function commandText(build: Pick<Build, "command" | "patterns" | "patternCount">): string {
  const shown = build.patterns.map(quoted);
  return ["bazel", build.command ?? "", ...shown].filter((word) => word !== "").join(" ");
}

/** As a POSIX shell reads it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
