import type { LoadReport } from "../load/load-report.ts";
import type { Verdict } from "../oracle/verdict.ts";
import type { Machine } from "./provenance.ts";
import type { ScenarioLoad } from "./scenarios.ts";
import type { ServerFigures } from "./server-figures.ts";

/** One run of a scenario, as it is appended to `bench/results/<scenario>.jsonl`. Names carry the unit. */
export interface ResultLine extends Origin, LoadFigures, ServerFigures, OracleFigures {
  /** Growth of tables, indexes, TOAST and blobs over the load ÷ its builds, as it is right after it. */
  readonly storageBytesPerBuild: number;
}

/** Where a line comes from: figures of lines in which these differ say little about each other. */
export interface Origin {
  readonly scenario: string;
  /** "+" at its end: with changes that were not committed. */
  readonly commit: string;
  readonly date: string;
  readonly machine: Machine;
  readonly versions: { readonly node: string; readonly postgres: string; readonly nats: string };
  /** The hash of a mixed load is those of its parts. */
  readonly workload: { readonly name: string; readonly hash: string };
  readonly plan: Omit<ScenarioLoad, "workload"> & { readonly preheatSeconds: number };
}

/** What the generator saw while it measured; counts are of the whole run, its warm-up included. */
export type LoadFigures = Omit<LoadReport, "messages">;

export interface OracleFigures {
  /** Events that were acknowledged and are missing. */
  readonly lost: number;
  /** Events that are stored more than once. */
  readonly doubled: number;
  readonly oracle: Verdict["verdict"];
  /** Why it refused, or its first findings; "" when clean. */
  readonly oracleSays: string;
}

/** Whether a line's figures count: everything was uploaded, and the oracle found nothing. */
export function isSound(line: Pick<ResultLine, "failed" | "oracle">): boolean {
  return line.failed === 0 && line.oracle === "clean";
}

export function loadFigures({ messages, ...figures }: LoadReport): LoadFigures {
  return figures;
}

const findingsTold = 3;

export function oracleFigures(verdict: Verdict): OracleFigures {
  const { lost, doubled, verdict: oracle, reason, findings, counts } = verdict;
  const first = findings
    .slice(0, findingsTold)
    .map((one) => `${one.kind} ${one.invocationId}: ${one.detail}`);
  const kinds = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`);
  const oracleSays = [reason, kinds.join(", "), ...first].filter(Boolean).join("; ");
  return { lost, doubled, oracle, oracleSays };
}
