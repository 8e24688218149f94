import type { LoadPlan } from "../load/load-plan.ts";

/** What a scenario's generator does; the address and the run log are filled in when it runs. */
export type ScenarioLoad = Pick<
  LoadPlan,
  "workload" | "streams" | "seconds" | "builds" | "rate" | "rampSeconds" | "warmUpSeconds"
> & {
  /** Processes of the generator. */
  readonly processes: number;
};

export interface Scenario {
  /** Uploaded first, flat out, so that code is compiled and caches are warm; undefined: the load warms up itself. */
  readonly preheat: Pick<ScenarioLoad, "workload" | "streams"> | undefined;
  /** Seconds of it when there is a preheat; otherwise it is the load's own warm-up. */
  readonly warmUpSeconds: number;
  readonly load: Omit<ScenarioLoad, "warmUpSeconds">;
}

export const scenarioNames = ["flat", "real", "huge", "paced", "idle", "log"] as const;
export type ScenarioName = (typeof scenarioNames)[number];

const flatOut = { streams: 200, seconds: 30, builds: undefined, rate: 0, rampSeconds: 0, processes: 1 };

// Until the just-in-time compiler has all hot code throughput grows for 20 to 30 s.
const warmUpSeconds = 30;

export const scenarios: Readonly<Record<ScenarioName, Scenario>> = {
  flat: { preheat: undefined, warmUpSeconds, load: { ...flatOut, workload: "tiny" } },
  real: { preheat: undefined, warmUpSeconds, load: { ...flatOut, workload: "real" } },
  log: { preheat: undefined, warmUpSeconds, load: { ...flatOut, workload: "log" } },
  huge: {
    preheat: { workload: "real", streams: 20 },
    warmUpSeconds,
    load: { ...flatOut, workload: "huge", streams: 1, seconds: undefined, builds: 1 },
  },
  // The streams begin over more than the gap of two events, so that their builds do not all end at once.
  paced: {
    preheat: { workload: "tiny", streams: 50 },
    warmUpSeconds,
    load: { ...flatOut, workload: "tiny", streams: 1_000, rate: 2, seconds: 60, rampSeconds: 20 },
  },
  // An event every 10 s: with 44 events a build outlives the run, so every stream stays what it is.
  idle: {
    preheat: { workload: "tiny", streams: 50 },
    warmUpSeconds,
    load: { ...flatOut, workload: "tiny", streams: 5_000, rate: 0.1, seconds: 60, rampSeconds: 30 },
  },
};
