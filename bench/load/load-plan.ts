import { parseArgs } from "node:util";

const workloads = ["tiny", "real", "huge", "log", "mixed"] as const;

/** What a generator does. */
export interface LoadPlan {
  /** `host:port`, plain HTTP/2. */
  readonly address: string;
  /** `mixed`: real and tiny builds by turns. */
  readonly workload: (typeof workloads)[number];
  /** Uploaders at the same time; each build has a TCP connection of its own. */
  readonly streams: number;
  /** How long is measured; then no build is begun and those under way are sent flat out to their end. */
  readonly seconds: number | undefined;
  /** Instead of `seconds`: how many builds are uploaded. */
  readonly builds: number | undefined;
  /** Events per second and stream, each at its own time however late the acks are; 0 is flat out. */
  readonly rate: number;
  /** The uploaders begin one after the other over this time; measuring begins when all have. */
  readonly rampSeconds: number;
  /** Time between the last uploader's begin and the measuring. */
  readonly warmUpSeconds: number;
  /** Where the run log is appended (run-log.ts); none by default. */
  readonly log: string | undefined;
  readonly apiKey: string | undefined;
  /** Silences of shards that last at least so long are reported; `project` is the one the builds end up in. */
  readonly silences?: { readonly project: string; readonly fromMs: number };
  /** Which of how many processes this one is. */
  readonly share: { readonly index: number; readonly count: number };
}

export const usage = `usage: node bench/load/main.ts [options]
  --address HOST:PORT  plain HTTP/2 (127.0.0.1:1985)
  --workload NAME      ${workloads.join(", ")} (tiny); mixed is real and tiny by turns
  --streams N          uploads at the same time, 1 to 10,000 (200)
  --seconds S          measures so long, then finishes the builds under way (10)
  --builds N           instead: uploads so many builds
  --rate R             events per second and stream; flat out without it
  --ramp S             seconds over which the uploaders begin (0; with a rate its gap, at most 10)
  --warm-up S          seconds after that which do not count (0)
  --processes K        that share the streams (1)
  --log FILE           appends a run log for the oracle
  --api-key KEY        sent as x-api-key
  --json               prints the result as one line of JSON`;

/** A command line that makes no sense; the message says why. */
export class UsageError extends Error {}

export interface LoadCommand {
  readonly plan: LoadPlan;
  readonly processes: number;
  readonly asJson: boolean;
}

/** Reads the command line. Throws a UsageError. */
export function parseLoadCommand(args: readonly string[]): LoadCommand {
  const values = parseValues(args);
  const workload = workloads.find((name) => name === values.workload);
  if (workload === undefined) throw new UsageError(`--workload ${values.workload}: ${workloads.join(", ")}`);
  if (values.builds !== undefined && values.seconds !== undefined) {
    throw new UsageError("--seconds and --builds exclude each other");
  }
  const streams = numberOf("streams", { text: values.streams, min: 1, max: 10_000, isWhole: true });
  const processes = numberOf("processes", { text: values.processes, min: 1, max: streams, isWhole: true });
  const rate = numberOf("rate", { text: values.rate, min: 0 });
  const builds = values.builds;
  const seconds = builds === undefined ? (values.seconds ?? "10") : undefined;
  return {
    processes,
    asJson: values.json,
    plan: {
      address: values.address,
      workload,
      streams,
      seconds: seconds === undefined ? undefined : numberOf("seconds", { text: seconds, min: 0.01 }),
      builds: builds === undefined ? undefined : numberOf("builds", { text: builds, min: 1, isWhole: true }),
      rate,
      rampSeconds: numberOf("ramp", { text: values.ramp ?? String(usualRampSeconds(rate)), min: 0 }),
      warmUpSeconds: numberOf("warm-up", { text: values["warm-up"], min: 0 }),
      log: values.log,
      apiKey: values["api-key"],
      share: { index: 0, count: 1 },
    },
  };
}

/** Streams with a rate are spread over the gap between two events, as those of different people are. */
function usualRampSeconds(rate: number): number {
  return rate === 0 ? 0 : Math.min(10, 1 / rate);
}

/** The plan of one of `count` processes: its share of the streams and builds. */
export function shareOf(plan: LoadPlan, { index, count }: { index: number; count: number }): LoadPlan {
  const part = (whole: number): number => Math.floor((whole + count - 1 - index) / count);
  const builds = plan.builds === undefined ? undefined : part(plan.builds);
  return { ...plan, streams: part(plan.streams), builds, share: { index, count } };
}

function parseValues(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        address: { type: "string", default: "127.0.0.1:1985" },
        workload: { type: "string", default: "tiny" },
        streams: { type: "string", default: "200" },
        seconds: { type: "string" },
        builds: { type: "string" },
        rate: { type: "string", default: "0" },
        ramp: { type: "string" },
        "warm-up": { type: "string", default: "0" },
        processes: { type: "string", default: "1" },
        log: { type: "string" },
        "api-key": { type: "string" },
        json: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function numberOf(name: string, of: { text: string; min: number; max?: number; isWhole?: boolean }): number {
  const { text, min, max = Number.MAX_SAFE_INTEGER, isWhole = false } = of;
  const value = Number(text);
  const isFit = text.trim() !== "" && value >= min && value <= max && (!isWhole || Number.isInteger(value));
  if (!isFit)
    throw new UsageError(`--${name} ${text}: a ${isWhole ? "whole " : ""}number from ${min} to ${max}`);
  return value;
}
