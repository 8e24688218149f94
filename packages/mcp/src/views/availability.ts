import { statSync } from "node:fs";
import { rowCommands } from "../conclude/conclude.ts";
import { hasEvents } from "../run/command-line.ts";
import type { Artifact, Details } from "../store/details.ts";
import { file } from "../store/layout.ts";
import type { Invocation } from "../store/record.ts";
import type { Store } from "../store/store.ts";

export const viewNames = [
  "summary",
  "metrics",
  "diagnostics",
  "targets",
  "tests",
  "test_log",
  "coverage",
  "artifacts",
  "query_results",
  "log",
  "invocations",
] as const;

export type ViewName = (typeof viewNames)[number];

/** `expired`: retention has taken the evidence. */
export type Availability = "available" | "empty" | "expired" | "not_applicable";

/** What each view of an invocation has to show. */
export function viewsOf(invocation: Invocation, store: Store): Readonly<Record<string, Availability>> {
  const { id, command } = invocation.request;
  const details = store.readSidecar<Details>(id, file.details);
  const artifacts = store.readSidecar<Artifact[]>(id, file.artifacts);
  const isBuild = hasEvents(command);
  const isTest = command === "test" || command === "coverage";
  const has = (list: readonly unknown[] | undefined): Availability =>
    (list?.length ?? 0) > 0 ? "available" : "empty";
  const evidence = (name: string): Availability =>
    sizeOf(store.pathOf(id, name)) > 0
      ? "available"
      : invocation.evidence_expired === true
        ? "expired"
        : "empty";
  const only = (applies: boolean, state: () => Availability): Availability =>
    applies ? state() : "not_applicable";
  return {
    summary: "available",
    metrics: "available",
    diagnostics: has(invocation.summary?.diagnostics),
    targets: only(isBuild, () => has(details?.targets)),
    tests: only(isTest, () => has(details?.tests)),
    test_log: only(isTest, () => evidence(file.testLogs)),
    coverage: only(command === "coverage", () => has(details?.coverage_files)),
    artifacts: only(isBuild, () => has(artifacts)),
    query_results: only(rowCommands.has(command), () => evidence(file.stdout)),
    log: evidence(logFileOf(command)) === "available" ? "available" : evidence(file.stderr),
  };
}

/** Where a command prints what a person would read. */
export function logFileOf(command: string): string {
  return hasEvents(command) && command !== "run" ? file.stderr : file.stdout;
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0; // Never written, or taken by retention.
  }
}
