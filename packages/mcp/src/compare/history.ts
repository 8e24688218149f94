import type { Details, TestDetail } from "../store/details.ts";
import { file } from "../store/layout.ts";
import { isTerminal } from "../store/record.ts";
import type { Entry } from "../store/record-index.ts";
import type { Store } from "../store/store.ts";

/** One outcome of one label. */
export interface Outcome {
  readonly invocation_id: string;
  readonly at: string;
  readonly label: string;
  readonly status: string;
  readonly duration_ms: number;
  readonly cached: boolean;
  readonly attempts: number;
}

const invocationsRead = 500;

/** Outcomes of tests and, where there is no test, of targets, newest invocation first. */
export function* outcomes(
  store: Store,
  at: { matches: (label: string) => boolean; workspace: string | undefined },
): Generator<Outcome> {
  let read = 0;
  for (const entry of store.index.newest()) {
    if (!isRelevant(entry, at.workspace)) continue;
    if (read === invocationsRead) return;
    read += 1;
    yield* outcomesOf(store, { entry, matches: at.matches });
  }
}

function isRelevant(entry: Entry, workspace: string | undefined): boolean {
  const builds = entry.command === "build" || entry.command === "test" || entry.command === "coverage";
  return builds && isTerminal(entry.state) && (workspace === undefined || entry.workspace === workspace);
}

function* outcomesOf(
  store: Store,
  at: { entry: Entry; matches: (label: string) => boolean },
): Generator<Outcome> {
  const details = store.readSidecar<Details>(at.entry.id, file.details);
  const common = {
    invocation_id: at.entry.id,
    at: new Date(at.entry.requestedAtMs).toISOString(),
  };
  const tested = new Set<string>();
  for (const test of details?.tests ?? []) {
    if (!at.matches(test.label)) continue;
    tested.add(test.label);
    yield { ...common, ...testFields(test) };
  }
  for (const target of details?.targets ?? []) {
    if (tested.has(target.label) || !at.matches(target.label) || target.aspect !== undefined) continue;
    const status = target.success ? "built" : (target.aborted ?? "failed");
    yield { ...common, label: target.label, status, duration_ms: 0, cached: false, attempts: 0 };
  }
}

function testFields(test: TestDetail): Omit<Outcome, "invocation_id" | "at"> {
  return {
    label: test.label,
    status: test.status,
    duration_ms: test.duration_ms ?? 0,
    cached: test.cached === true,
    attempts: test.attempts,
  };
}

/** How unsteady a test is. */
export interface Flakiness {
  readonly label: string;
  readonly runs: number;
  readonly flaky: number;
  readonly failed: number;
  /** Times that the outcome changed between neighbouring runs. */
  readonly changes: number;
}

/** Tests that were flaky or changed their outcome, the most unsteady first. Cached results say nothing and do not count. */
export function rankFlaky(all: Iterable<Outcome>): Flakiness[] {
  const byLabel = new Map<string, Outcome[]>();
  for (const outcome of all) {
    if (outcome.attempts === 0 || outcome.cached) continue;
    byLabel.set(outcome.label, [...(byLabel.get(outcome.label) ?? []), outcome]);
  }
  const score = (one: Flakiness): number => (one.flaky * 2 + Math.max(0, one.changes - 1)) / one.runs;
  return [...byLabel]
    .map(([label, runs]) => flakinessOf(label, runs))
    .filter((one) => one.flaky > 0 || one.changes > 1)
    .sort((a, b) => score(b) - score(a) || b.runs - a.runs);
}

function flakinessOf(label: string, runs: readonly Outcome[]): Flakiness {
  const isGood = (outcome: Outcome | undefined): boolean =>
    outcome?.status === "passed" || outcome?.status === "flaky";
  let changes = 0;
  for (let at = 1; at < runs.length; at += 1) if (isGood(runs[at]) !== isGood(runs[at - 1])) changes += 1;
  return {
    label,
    runs: runs.length,
    flaky: runs.filter((run) => run.status === "flaky").length,
    failed: runs.filter((run) => !isGood(run)).length,
    changes,
  };
}

/** Mean and worst time of tests that really ran, the slowest first. */
export function rankSlow(
  all: Iterable<Outcome>,
): { label: string; runs: number; mean_ms: number; max_ms: number }[] {
  const byLabel = new Map<string, number[]>();
  for (const outcome of all) {
    if (outcome.attempts === 0 || outcome.cached) continue;
    byLabel.set(outcome.label, [...(byLabel.get(outcome.label) ?? []), outcome.duration_ms]);
  }
  return [...byLabel]
    .map(([label, times]) => ({
      label,
      runs: times.length,
      mean_ms: Math.round(times.reduce((sum, time) => sum + time, 0) / times.length),
      max_ms: Math.max(...times),
    }))
    .sort((a, b) => b.mean_ms - a.mean_ms);
}
