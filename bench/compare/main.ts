/**
 * Says for each figure whether two sets of runs differ by more than their runs do among themselves:
 *
 *   pnpm bench compare A B [--all]
 *
 * A and B: a file of result lines, or a commit (its beginning) whose lines are taken from bench/results. Without
 * `--all` only what differs is shown, and what the issue asks for.
 */
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { readResults, resultsDirectory } from "../scenario/result-file.ts";
import { compareLines, type FigureComparison } from "./compare-lines.ts";

const mainFigures = new Set([
  ...["eventsPerSecond", "ackP50Ms", "ackP99Ms", "flushP99Ms", "walBytesPerEvent", "storageBytesPerBuild"],
  ...["rssBytesPerStream", "cpuMicrosPerEvent.total", "generatorCpuMicrosPerEvent", "lost", "doubled"],
]);

function linesOf(what: string): Record<string, unknown>[] {
  if (existsSync(what)) return readResults(what);
  const files = readdirSync(resultsDirectory).filter((name) => name.endsWith(".jsonl"));
  const all = files.flatMap((name) => readResults(path.join(resultsDirectory, name)));
  return all.filter((line) => String(line["commit"]).startsWith(what));
}

function rowOf({ name, a, b, changePercent, verdict }: FigureComparison): string {
  const change = `${changePercent > 0 ? "+" : ""}${changePercent.toFixed(1)} %`;
  return `  ${name.padEnd(34)}${shown(a)}${shown(b)}${change.padStart(12)}  ${verdict}`;
}

function shown(value: number): string {
  return String(Number(value.toFixed(2))).padStart(16);
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { all: { type: "boolean", default: false } },
});
const [a = [], b = []] = positionals.map(linesOf);
const comparisons = compareLines(a, b);
if (positionals.length !== 2 || comparisons.length === 0) {
  console.error(
    `usage: pnpm bench compare A B [--all]: files of result lines, or commits; no scenario is in both`,
  );
  process.exit(2);
}
for (const { scenario, runs, doubts, figures } of comparisons) {
  console.log(`${scenario} (${runs.join(" and ")} runs)`);
  for (const doubt of doubts) console.log(`  ! ${doubt}`);
  const isShown = ({ name, verdict }: FigureComparison): boolean =>
    values.all || mainFigures.has(name) || verdict === "different";
  for (const figure of figures.filter(isShown)) console.log(rowOf(figure));
}
