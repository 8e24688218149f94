import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { delay, systemClock } from "@millrace/base/clock";
import type { LoadPlan } from "../load/load-plan.ts";
import { runInProcesses } from "../load/load-process.ts";
import { reportOf } from "../load/load-report.ts";
import { checkRun } from "../oracle/check-run.ts";
import { freePorts, killAll, type Millrace, startMillrace } from "../scenario/millrace.ts";
import { originOf } from "../scenario/origin.ts";
import {
  type LoadFigures,
  loadFigures,
  type OracleFigures,
  type Origin,
  oracleFigures,
} from "../scenario/result-line.ts";
import type { PowerCutCommand } from "./command.ts";
import { createDiskImage, type DiskImage } from "./disk-image.ts";

type Tell = (text: string) => void;

/** One run of power cuts, as it is appended to `bench/results/power-cut.jsonl`. */
export interface PowerCutLine extends Origin, LoadFigures, OracleFigures {
  readonly cuts: readonly PowerCut[];
}

interface PowerCut {
  /** Since the measuring began. */
  readonly atSeconds: number;
  /** Until `millrace up` on the same directory was ready again. */
  readonly awaySeconds: number;
}

/** Sparse: what a run does not write is not there. */
const diskBytes = 32 * 1024 ** 3;
const warmUpSeconds = 10;

/**
 * Uploads real and tiny builds to a Millrace whose database, blobs and NATS lie on a disk of their own, cuts that
 * disk's power under it, starts it again on what was synced, and asks the oracle about every acknowledged event.
 */
export async function runPowerCut(command: PowerCutCommand, tell: Tell): Promise<PowerCutLine> {
  const parent = await mkdtemp(path.join(tmpdir(), "millrace-power-"));
  const disk = createDiskImage(parent, diskBytes);
  const place = { dataDir: path.join(disk.directory, "data"), grpcPort: await freePorts(1) };
  const start = (): Promise<Millrace> => startMillrace({ keeps: true, ...place });
  let millrace = await start();
  const restart = async (): Promise<Millrace> => {
    // Nothing can be read from the disk afterwards, not even whom to kill. The supervisor comes first.
    const doomed = Object.values(millrace.pids());
    disk.cut();
    await killAll(doomed);
    await disk.restore();
    millrace = await start();
    return millrace;
  };
  try {
    const log = path.join(parent, "run.log");
    const { outcome, cuts } = await uploadAndCut(command, { log, millrace, restart, tell });
    const report = reportOf(outcome.parts);
    for (const message of report.messages) tell(`failed: ${message}`);
    tell(`asks the oracle about ${report.builds} builds`);
    const { databaseUrl, blobDirectory: blobDir } = millrace.addresses;
    const { streams, rate, seconds, builds, rampSeconds } = planOf(command, { log, millrace });
    const verdict = await checkRun({ logs: [log], databaseUrl, blobDir, sample: command.sample });
    return {
      ...(await originOf(millrace, "power-cut")),
      workload: { name: "mixed", hash: outcome.workloadHash },
      plan: { streams, rate, seconds, builds, rampSeconds, warmUpSeconds, processes: 1, preheatSeconds: 0 },
      ...{ cuts, ...loadFigures(report), ...oracleFigures(verdict) },
    };
  } catch (error) {
    tell(millrace.log());
    throw error;
  } finally {
    await discard({ millrace, disk, parent });
  }
}

async function discard(of: { millrace: Millrace; disk: DiskImage; parent: string }): Promise<void> {
  await of.millrace.stop();
  await of.disk.remove();
  await rm(of.parent, { recursive: true, force: true });
}

async function uploadAndCut(
  command: PowerCutCommand,
  of: { log: string; millrace: Millrace; tell: Tell; restart: () => Promise<Millrace> },
) {
  let cutting: Promise<PowerCut[]> = Promise.resolve([]);
  const outcome = await runInProcesses(planOf(command, of), 1, (isOpen) => {
    if (!isOpen) return;
    cutting = cutInTurn(command, of);
    // Whoever waits for the uploads waits for the cuts too; until then a rejection is nobody's.
    cutting.catch(() => {});
  });
  return { outcome, cuts: await cutting };
}

async function cutInTurn(
  { cuts, everySeconds }: PowerCutCommand,
  { restart, tell }: { restart: () => Promise<Millrace>; tell: Tell },
): Promise<PowerCut[]> {
  const beganMs = systemClock.monotonic();
  const secondsSince = (fromMs: number): number =>
    Number(((systemClock.monotonic() - fromMs) / 1_000).toFixed(1));
  const done: PowerCut[] = [];
  while (done.length < cuts) {
    await delay(systemClock, everySeconds * 1_000);
    tell(`cuts the power, ${done.length + 1} of ${cuts}`);
    const [cutMs, atSeconds] = [systemClock.monotonic(), secondsSince(beganMs)];
    await restart();
    done.push({ atSeconds, awaySeconds: secondsSince(cutMs) });
  }
  return done;
}

/** It lasts until some time after the last cut. */
function planOf(
  { cuts, everySeconds, streams, eventsPerSecond }: PowerCutCommand,
  { log, millrace }: { log: string; millrace: Millrace },
): LoadPlan {
  return {
    address: millrace.grpcAddress,
    workload: "mixed",
    seconds: (cuts + 1) * everySeconds + 10 * cuts,
    builds: undefined,
    rate: eventsPerSecond / streams,
    apiKey: undefined,
    share: { index: 0, count: 1 },
    rampSeconds: 1,
    ...{ log, streams, warmUpSeconds },
  };
}
