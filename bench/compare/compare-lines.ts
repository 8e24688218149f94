import { figuresOf, median } from "../scenario/figures.ts";

/** Two sets of runs of one scenario, figure by figure. */
export interface Comparison {
  readonly scenario: string;
  readonly runs: readonly [a: number, b: number];
  /** Why the figures should not be compared; empty when they may be. */
  readonly doubts: readonly string[];
  readonly figures: readonly FigureComparison[];
}

export interface FigureComparison {
  readonly name: string;
  readonly a: number;
  readonly b: number;
  /** Of the medians, in percent of a's. */
  readonly changePercent: number;
  /**
   * `different`: the medians lie farther apart than the runs of either set do. `noise`: they do not. `one run`: a set
   * has one run only, so nobody knows how far runs lie apart.
   */
  readonly verdict: "different" | "noise" | "equal" | "one run";
}

type Line = Readonly<Record<string, unknown>>;

/** Compares what both have, by scenario and in its order. */
export function compareLines(a: readonly Line[], b: readonly Line[]): Comparison[] {
  const scenarios = [...new Set(a.map(scenarioOf))].filter((name) =>
    b.some((line) => scenarioOf(line) === name),
  );
  return scenarios.map((scenario) => {
    const isOfIt = (line: Line): boolean => scenarioOf(line) === scenario;
    return compareScenario(scenario, { a: a.filter(isOfIt), b: b.filter(isOfIt) });
  });
}

function compareScenario(scenario: string, of: { a: readonly Line[]; b: readonly Line[] }): Comparison {
  const all = [...of.a, ...of.b];
  const doubts = ["workload", "plan", "machine", "versions"]
    .filter((name) => new Set(all.map((line) => identityOf(line, name))).size > 1)
    .map((name) => `${name} is not the same in all runs`);
  const unsound = all.filter((line) => "oracle" in line && line["oracle"] !== "clean").length;
  if (unsound > 0) doubts.push(`the oracle is not content with ${unsound} of the runs`);
  const valuesA = valuesByFigure(of.a);
  const valuesB = valuesByFigure(of.b);
  const figures = [...valuesA].flatMap(([name, a]) => {
    const b = valuesB.get(name);
    return b === undefined ? [] : [compareFigure(name, { a, b })];
  });
  return { scenario, runs: [of.a.length, of.b.length], doubts, figures };
}

function compareFigure(
  name: string,
  values: { readonly a: readonly number[]; readonly b: readonly number[] },
): FigureComparison {
  const [a, b] = [median(values.a), median(values.b)];
  const changePercent = a === 0 ? (b === 0 ? 0 : Number.POSITIVE_INFINITY) : ((b - a) / Math.abs(a)) * 100;
  return { name, a, b, changePercent, verdict: judge(values, Math.abs(b - a)) };
}

function judge(
  { a, b }: { readonly a: readonly number[]; readonly b: readonly number[] },
  difference: number,
): FigureComparison["verdict"] {
  const spread = Math.max(spreadOf(a), spreadOf(b));
  if (difference === 0) return "equal";
  if (a.length < 2 || b.length < 2) return "one run";
  return difference > spread ? "different" : "noise";
}

function spreadOf(values: readonly number[]): number {
  return Math.max(...values) - Math.min(...values);
}

/** Of the figures that all lines have. */
function valuesByFigure(lines: readonly Line[]): Map<string, number[]> {
  const all = lines.map(figuresOf);
  const names = Object.keys(all[0] ?? {}).filter((name) => all.every((figures) => name in figures));
  return new Map(names.map((name) => [name, all.map((figures) => figures[name] ?? 0)]));
}

/** The load of a machine is not what it is. */
function identityOf(line: Line, name: string): string {
  const { loadAverage: _, ...rest } = (line[name] ?? {}) as Record<string, unknown>;
  return JSON.stringify(rest);
}

function scenarioOf(line: Line): string {
  return String(line["scenario"]);
}
