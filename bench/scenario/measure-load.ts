import { delay, systemClock } from "@millrace/base/clock";
import type { LoadPlan } from "../load/load-plan.ts";
import { runInProcesses } from "../load/load-process.ts";
import { type LoadReport, reportOf } from "../load/load-report.ts";
import type { ScenarioLoad } from "./scenarios.ts";
import type { Measured, ServerReading } from "./server-figures.ts";
import type { ServerWatch } from "./server-watch.ts";

/** What is uploaded where, and measured how. */
export interface LoadTask {
  readonly address: string;
  readonly runLog: string;
  readonly load: ScenarioLoad;
  /** Forced while it is measured. */
  readonly checkpoints: number;
}

export interface MeasuredLoad {
  readonly workloadHash: string;
  readonly report: LoadReport;
  readonly measured: Measured;
}

/** A build that is measured from its first to its last event takes about so long: for the checkpoints. */
const usualBuildMs = 10_000;
const settleMs = 5_000;

/** Uploads so that code is compiled; the oracle checks these builds too. */
export async function preheat(
  task: Pick<LoadTask, "address" | "runLog">,
  of: Pick<ScenarioLoad, "workload" | "streams"> & { readonly seconds: number },
): Promise<void> {
  const { seconds, ...what } = of;
  if (seconds === 0) return;
  const flatOut = { builds: undefined, rate: 0, rampSeconds: 0, warmUpSeconds: 0 };
  await runInProcesses(planOf({ ...task, load: { ...flatOut, ...what, seconds } }), 1);
}

/** Runs the generator in its own processes and reads the servers when its measuring begins and ends. */
export async function measureLoad(task: LoadTask, watch: ServerWatch): Promise<MeasuredLoad> {
  const { load, checkpoints } = task;
  await delay(systemClock, settleMs);
  const idle = watch.usage();
  const readings: Promise<ServerReading>[] = [];
  const onWindow = (isOpen: boolean): void => {
    readings.push(watch.read());
    const measuredMs = load.seconds === undefined ? usualBuildMs : load.seconds * 1_000;
    if (isOpen) watch.forceCheckpoints(checkpoints, measuredMs);
  };
  const { workloadHash, parts } = await runInProcesses(planOf(task), load.processes, onWindow);
  const [opened, closed] = await Promise.all(readings);
  if (opened === undefined || closed === undefined)
    throw new Error("the generator did not say when it measured");
  const report = reportOf(parts);
  const windows = parts.map((part) => part.window);
  const events = windows.reduce((sum, window) => sum + window.events, 0);
  const generatorCpuMicros = windows.reduce((sum, window) => sum + window.cpuMicros, 0);
  const measured = { idle, opened, closed, events, generatorCpuMicros, streams: load.streams };
  return { workloadHash, report, measured };
}

function planOf(task: {
  readonly address: string;
  readonly runLog: string;
  readonly load: Omit<ScenarioLoad, "processes">;
}): LoadPlan {
  const { workload, streams, seconds, builds, rate, rampSeconds, warmUpSeconds } = task.load;
  const share = { index: 0, count: 1 };
  const what = { workload, streams, seconds, builds, rate, rampSeconds, warmUpSeconds };
  return { ...what, address: task.address, log: task.runLog, apiKey: undefined, share };
}
