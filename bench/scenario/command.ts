import { parseArgs } from "node:util";
import { UsageError } from "../load/load-plan.ts";
import { type ScenarioLoad, type ScenarioName, scenarioNames, scenarios } from "./scenarios.ts";

export const usage = `usage: pnpm bench ${scenarioNames.join("|")} [options]
  --runs N        repeats it, each time with a Millrace of its own, and prints the median line (1)
  --streams N     instead of the scenario's; likewise the next two
  --seconds S     that are measured
  --rate R        events per second and stream
  --warm-up S     seconds before the measuring (30)
  --ramp S        seconds over which the streams begin
  --processes K   of the generator (1)
  --checkpoints N forced during the measuring, evenly from its beginning (2)
  --sample N      builds whose bytes and rows the oracle compares; positions of all (2000)
  --keep          leaves the data directory and the run log and says where they are
  --no-record     prints the line, but does not append it to bench/results`;

export interface ScenarioCommand {
  readonly scenario: ScenarioName;
  readonly preheat: Pick<ScenarioLoad, "workload" | "streams"> | undefined;
  /** Of the preheat. */
  readonly preheatSeconds: number;
  readonly load: ScenarioLoad;
  readonly runs: number;
  readonly checkpoints: number;
  readonly sample: number;
  readonly keeps: boolean;
  readonly records: boolean;
}

/** Reads the command line. Throws a UsageError. */
export function parseScenarioCommand([name = "", ...args]: readonly string[]): ScenarioCommand {
  const scenario = scenarioNames.find((one) => one === name);
  if (scenario === undefined) throw new UsageError(`there is no scenario ${JSON.stringify(name)}`);
  const { preheat, warmUpSeconds, load } = scenarios[scenario];
  const values = parseValues(args);
  const warmUp = numberOr(values["warm-up"], { name: "warm-up", fallback: warmUpSeconds });
  const seconds = load.seconds;
  return {
    scenario,
    preheat,
    preheatSeconds: preheat === undefined ? 0 : warmUp,
    load: {
      ...load,
      streams: numberOr(values.streams, { name: "streams", fallback: load.streams, min: 1 }),
      seconds:
        seconds === undefined ? undefined : numberOr(values.seconds, { name: "seconds", fallback: seconds }),
      rate: numberOr(values.rate, { name: "rate", fallback: load.rate }),
      rampSeconds: numberOr(values.ramp, { name: "ramp", fallback: load.rampSeconds }),
      warmUpSeconds: preheat === undefined ? warmUp : 0,
      processes: numberOr(values.processes, { name: "processes", fallback: load.processes, min: 1 }),
    },
    runs: numberOr(values.runs, { name: "runs", fallback: 1, min: 1 }),
    checkpoints: numberOr(values.checkpoints, { name: "checkpoints", fallback: 2 }),
    sample: numberOr(values.sample, { name: "sample", fallback: 2_000 }),
    keeps: values.keep,
    records: !values["no-record"],
  };
}

function parseValues(args: readonly string[]) {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        ...{ runs: text, streams: text, seconds: text, rate: text, "warm-up": text, ramp: text },
        ...{ processes: text, checkpoints: text, sample: text },
        ...{ keep: flag, "no-record": flag },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function numberOr(
  text: string | undefined,
  of: { readonly name: string; readonly fallback: number; readonly min?: number },
): number {
  if (text === undefined) return of.fallback;
  const value = Number(text);
  if (text.trim() !== "" && value >= (of.min ?? 0)) return value;
  throw new UsageError(`--${of.name} ${text}: a number from ${of.min ?? 0}`);
}
