import { parseArgs } from "node:util";
import { UsageError } from "../load/load-plan.ts";

export const usage = `usage: pnpm bench power-cut [options]      as root, on Linux
  --cuts N               how often the power fails (3)
  --every S              seconds of load before each cut (25)
  --streams N            uploads at the same time (200)
  --events-per-second R  that all of them send together (20000)
  --sample N             builds whose bytes and rows the oracle compares; positions of all (5000)
  --no-record            prints the line, but does not append it to bench/results`;

export interface PowerCutCommand {
  readonly cuts: number;
  readonly everySeconds: number;
  readonly streams: number;
  readonly eventsPerSecond: number;
  readonly sample: number;
  readonly records: boolean;
}

/** Reads the command line. Throws a UsageError. */
export function parsePowerCutCommand(args: readonly string[]): PowerCutCommand {
  const values = parseValues(args);
  const number = (name: Exclude<keyof typeof values, "no-record">): number => {
    const value = Number(values[name]);
    if (values[name].trim() !== "" && value >= 1) return value;
    throw new UsageError(`--${name} ${values[name]}: a number from 1`);
  };
  return {
    cuts: number("cuts"),
    everySeconds: number("every"),
    streams: number("streams"),
    eventsPerSecond: number("events-per-second"),
    sample: number("sample"),
    records: !values["no-record"],
  };
}

function parseValues(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        cuts: { type: "string", default: "3" },
        every: { type: "string", default: "25" },
        streams: { type: "string", default: "200" },
        "events-per-second": { type: "string", default: "20000" },
        sample: { type: "string", default: "5000" },
        "no-record": { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
