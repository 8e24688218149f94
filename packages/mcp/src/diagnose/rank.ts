import type { Category, Diagnostic, Severity } from "../store/record.ts";

/** A diagnostic before ranking. */
export interface Candidate extends Diagnostic {
  /** It only follows from another failure. */
  readonly isConsequence?: boolean;
  /** It says that something failed and quotes its last words; no rule has found a cause in them. */
  readonly isUnexplained?: boolean;
}

const severityWeight: Readonly<Record<Severity, number>> = { error: 0, warning: 1, note: 2 };
const categoryWeight: Readonly<Record<Category, number>> = {
  loading: 0,
  visibility: 0,
  analysis: 1,
  compilation: 2,
  test: 3,
  workspace: 4,
  action: 5,
  bazel: 6,
  unknown: 7,
};

// Next to causes, what follows from them is worth little.
const consequencesMax = 2;

/**
 * Causes first: by severity, then those that do not merely follow from another, then by category, then what a rule
 * has explained, then those with a place. Equal ones keep their order. Exact repeats merge into one with a count; the same message for several targets
 * merges into one without a target; a message contained in a located one of the same build is dropped.
 */
export function rank(candidates: readonly Candidate[], max: number): Diagnostic[] {
  const merged = dropContained(mergeRepeats(candidates));
  const causes = merged.filter((one) => one.severity === "error" && one.isConsequence !== true).length;
  let consequences = 0;
  const told = merged.filter((one) => {
    if (causes === 0 || one.isConsequence !== true) return true;
    consequences += 1;
    return consequences <= consequencesMax;
  });
  const keyed = told.map((candidate, order) => ({ candidate, order }));
  keyed.sort((a, b) => compare(a.candidate, b.candidate) || a.order - b.order);
  return keyed
    .slice(0, max)
    .map(({ candidate: { isConsequence: _, isUnexplained: __, ...diagnostic } }) => diagnostic);
}

function compare(a: Candidate, b: Candidate): number {
  return (
    severityWeight[a.severity] - severityWeight[b.severity] ||
    Number(a.isConsequence ?? false) - Number(b.isConsequence ?? false) ||
    categoryWeight[a.category] - categoryWeight[b.category] ||
    Number(a.isUnexplained ?? false) - Number(b.isUnexplained ?? false) ||
    Number(a.location === undefined) - Number(b.location === undefined)
  );
}

function mergeRepeats(candidates: readonly Candidate[]): Candidate[] {
  const merged = new Map<string, Candidate>();
  for (const one of candidates) {
    const key = JSON.stringify([one.severity, one.message, one.location]);
    const before = merged.get(key);
    if (before === undefined) {
      merged.set(key, one);
      continue;
    }
    const { target: _, ...withoutTarget } = before;
    const isSame = one.target === undefined || before.target === undefined || before.target === one.target;
    const target = before.target ?? one.target;
    merged.set(key, {
      ...(isSame ? { ...before, ...(target === undefined ? {} : { target }) } : withoutTarget),
      repetition_count: (before.repetition_count ?? 1) + 1,
    });
  }
  return [...merged.values()];
}

/** Bazel says many things twice: once in the event, once, with the place, on the terminal. */
function dropContained(candidates: readonly Candidate[]): Candidate[] {
  const texts = candidates.map((one) => one.message.replaceAll(/\s+/g, " "));
  return candidates.filter((one, index) => {
    const text = texts[index] ?? "";
    return !candidates.some((other, otherIndex) => {
      if (otherIndex === index || other.severity !== one.severity) return false;
      const otherText = texts[otherIndex] ?? "";
      if (other.isConsequence !== true && one.isConsequence === true && text.includes(otherText)) return true;
      if (other.isConsequence === true && one.isConsequence !== true) return false;
      const isBetter =
        (other.location !== undefined && one.location === undefined) ||
        (other.location === undefined && one.location === undefined && otherText.length > text.length);
      return isBetter && text.length > 12 && otherText.includes(text);
    });
  });
}
