import { parseArgs } from "node:util";
import { UsageError } from "../load/load-plan.ts";
import { type FaultName, faultNames } from "./fault.ts";

export const usage = `usage: pnpm bench chaos [options]
  --minutes M            of faults (7)
  --faults A,B           those only, in this order: ${faultNames.join(", ")}
  --fail-points          instead: each process kills itself at one of its fail points, chosen by chance, 20 s after it
                         began and again
  --streams N            uploads at the same time, one in ten over connections that are cut (1000)
  --events-per-second R  that all of them send together: about half of what a flat-out run does (38000)
  --warm-up S            seconds before the faults (30)
  --sample N             builds whose bytes and rows the oracle compares; positions of all (5000)
  --keep                 leaves the data directory and the run logs and says where they are
  --no-record            prints the line, but does not append it to bench/results`;

export interface ChaosCommand {
  /** None: the processes die by themselves. */
  readonly faults: readonly FaultName[];
  readonly atFailPoints: boolean;
  readonly seconds: number;
  readonly streams: number;
  readonly eventsPerSecond: number;
  readonly warmUpSeconds: number;
  readonly sample: number;
  readonly keeps: boolean;
  readonly records: boolean;
}

/** Reads the command line. Throws a UsageError. */
export function parseChaosCommand(args: readonly string[]): ChaosCommand {
  const values = parseValues(args);
  return {
    faults: faultsOf(values),
    atFailPoints: values["fail-points"],
    seconds: numberOf("minutes", values.minutes) * 60,
    streams: numberOf("streams", values.streams),
    eventsPerSecond: numberOf("events-per-second", values["events-per-second"]),
    warmUpSeconds: numberOf("warm-up", values["warm-up"]),
    sample: numberOf("sample", values.sample),
    keeps: values.keep,
    records: !values["no-record"],
  };
}

/** Kills are most of it; in seven minutes each of the others comes once. */
const inTurn: readonly FaultName[] = [
  ...(["kill-writer", "kill-ingest", "kill-nats", "kill-postgres", "crash-thread"] as const),
  ...(["cut", "roll", "stop-writer", "kill-writer", "stop-postgres"] as const),
  ...(["kill-ingest", "stop-nats", "kill-postgres", "stop-ingest", "kill-nats"] as const),
];

function faultsOf(values: { faults?: string; "fail-points": boolean }): readonly FaultName[] {
  if (values.faults !== undefined) return values.faults.split(",").map(faultNamed);
  return values["fail-points"] ? [] : inTurn;
}

function faultNamed(text: string): FaultName {
  const fault = faultNames.find((name) => name === text);
  if (fault === undefined) throw new UsageError(`there is no fault ${JSON.stringify(text)}`);
  return fault;
}

function parseValues(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        minutes: { type: "string", default: "7" },
        faults: { type: "string" },
        "fail-points": { type: "boolean", default: false },
        streams: { type: "string", default: "1000" },
        "events-per-second": { type: "string", default: "38000" },
        "warm-up": { type: "string", default: "30" },
        sample: { type: "string", default: "5000" },
        keep: { type: "boolean", default: false },
        "no-record": { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= 0) return value;
  throw new UsageError(`--${name} ${text}: a number from 0`);
}
