import type { Details, TestDetail, TestStatus } from "../store/details.ts";
import type { Diagnostic, Invocation } from "../store/record.ts";

/** One side of a comparison. */
export interface Side {
  readonly invocation: Invocation;
  readonly details: Details;
}

/** What is different between two invocations, `base` the earlier. */
export interface Comparison {
  readonly newFailures: readonly string[];
  readonly fixed: readonly string[];
  readonly stillFailing: readonly string[];
  readonly newDiagnostics: readonly Diagnostic[];
  readonly goneDiagnostics: readonly Diagnostic[];
  readonly onlyInBase: readonly string[];
  readonly onlyInOther: readonly string[];
  readonly slower: readonly { readonly label: string; readonly base_ms: number; readonly other_ms: number }[];
  readonly metrics: readonly { readonly name: string; readonly base: number; readonly other: number }[];
}

const good: ReadonlySet<TestStatus> = new Set(["passed", "flaky", "skipped"]);
/** A test counts as slower when it takes half as long again and at least this much more. */
const slowerByMs = 500;

export function compareInvocations(base: Side, other: Side): Comparison {
  const before = outcomes(base.details);
  const after = outcomes(other.details);
  const labels = [...new Set([...before.keys(), ...after.keys()])].sort();
  const pick = (wanted: (from: boolean | undefined, to: boolean | undefined) => boolean): string[] =>
    labels.filter((label) => wanted(before.get(label), after.get(label)));
  return {
    newFailures: pick((from, to) => to === false && from !== false),
    fixed: pick((from, to) => from === false && to === true),
    stillFailing: pick((from, to) => from === false && to === false),
    onlyInBase: pick((_from, to) => to === undefined),
    onlyInOther: pick((from) => from === undefined),
    newDiagnostics: withoutThose(other.invocation, base.invocation),
    goneDiagnostics: withoutThose(base.invocation, other.invocation),
    slower: slowerTests(base.details, other.details),
    metrics: changedMetrics(base, other),
  };
}

/** Whether each label came out well; one bad configuration makes it bad. */
function outcomes(details: Details): Map<string, boolean> {
  const all = new Map<string, boolean>();
  const note = (label: string, isGood: boolean): void => {
    all.set(label, (all.get(label) ?? true) && isGood);
  };
  for (const target of details.targets ?? []) {
    if (target.aborted !== "skipped" && target.aborted !== "no_build") note(target.label, target.success);
  }
  for (const test of details.tests ?? []) note(test.label, good.has(test.status));
  return all;
}

function withoutThose(of: Invocation, those: Invocation): Diagnostic[] {
  const key = (one: Diagnostic): string => JSON.stringify([one.severity, one.message, one.location?.path]);
  const known = new Set((those.summary?.diagnostics ?? []).map(key));
  return (of.summary?.diagnostics ?? []).filter((one) => one.severity === "error" && !known.has(key(one)));
}

function slowerTests(base: Details, other: Details): Comparison["slower"] {
  const before = new Map((base.tests ?? []).map((test) => [test.label, test]));
  const pairs = (other.tests ?? []).flatMap((test) => {
    const earlier = before.get(test.label);
    return earlier === undefined || isCached(earlier) || isCached(test)
      ? []
      : [{ label: test.label, base_ms: earlier.duration_ms ?? 0, other_ms: test.duration_ms ?? 0 }];
  });
  return pairs
    .filter((pair) => pair.other_ms > pair.base_ms * 1.5 && pair.other_ms - pair.base_ms >= slowerByMs)
    .sort((a, b) => b.other_ms - b.base_ms - (a.other_ms - a.base_ms));
}

function isCached(test: TestDetail): boolean {
  return test.cached === true;
}

function changedMetrics(base: Side, other: Side): Comparison["metrics"] {
  const elapsed = (side: Side): number => side.invocation.summary?.elapsed_ms ?? 0;
  const before: Record<string, number> = { elapsed_ms: elapsed(base), ...base.details.build_metrics };
  const after: Record<string, number> = { elapsed_ms: elapsed(other), ...other.details.build_metrics };
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((name) => ({ name, base: before[name] ?? 0, other: after[name] ?? 0 }))
    .filter((one) => one.base !== one.other);
}
