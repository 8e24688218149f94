import path from "node:path";
import { systemClock } from "@millrace/base/clock";
import { defaultProject } from "@millrace/db/migrate";
import { startRelay } from "@millrace/test/model/fake-bazel/tcp-relay";
import type { LoadPlan } from "../load/load-plan.ts";
import { type LoadOutcome, runInProcesses } from "../load/load-process.ts";
import { reportOf } from "../load/load-report.ts";
import { checkRun } from "../oracle/check-run.ts";
import { type Millrace, startMillrace } from "../scenario/millrace.ts";
import { originOf } from "../scenario/origin.ts";
import { loadFigures, oracleFigures } from "../scenario/result-line.ts";
import { type ChaosLine, outageFigures, silenceMsMin } from "./chaos-line.ts";
import type { ChaosCommand } from "./command.ts";
import { FailPointDeaths, failPointEnvironment } from "./fail-point-deaths.ts";
import type { Fault } from "./fault.ts";
import { faultActs } from "./fault-acts.ts";
import { takeTurns } from "./fault-turns.ts";

type Tell = (text: string) => void;

/** Uploads real and tiny builds by turns at a fixed rate while things break, then asks the oracle about all of it. */
export async function runChaos(command: ChaosCommand, tell: Tell): Promise<ChaosLine> {
  const deaths = new FailPointDeaths();
  const millrace = await startMillrace({
    keeps: command.keeps,
    environment: { MILLRACE_FAIL_POINTS: "true", ...(command.atFailPoints && failPointEnvironment) },
    onLine: (line) => deaths.hear(line),
  });
  try {
    if (command.keeps) tell(`keeps ${millrace.dataDir}`);
    return { ...(await breakAndCheck(command, { millrace, tell })), diedAt: deaths.counts };
  } catch (error) {
    tell(millrace.log());
    throw error;
  } finally {
    await millrace.stop();
  }
}

async function breakAndCheck(
  command: ChaosCommand,
  { millrace, tell }: { millrace: Millrace; tell: Tell },
): Promise<Omit<ChaosLine, "diedAt">> {
  const { databaseUrl, blobDirectory: blobDir } = millrace.addresses;
  const logs = ["direct.log", "cut.log"].map((name) => path.join(millrace.dataDir, name));
  const relay = await startRelay(millrace.grpcAddress);
  const plans = plansOf(command, { addresses: [millrace.grpcAddress, relay.address], logs });
  let faulting: Promise<Fault[]> = Promise.resolve([]);
  const onWindow = (isOpen: boolean): void => {
    if (isOpen) faulting = doFaults(command, { millrace, tell, cut: relay.cut });
    // Whoever waits for the uploads waits for the faults too; until then a rejection is nobody's.
    faulting.catch(() => {});
  };
  const [direct, cut] = await uploadAll(plans, onWindow).finally(() => relay.close());
  const faults = await faulting;
  const parts = [...direct.parts, ...cut.parts];
  const report = reportOf(parts);
  for (const message of report.messages) tell(`failed: ${message}`);
  tell(`asks the oracle about ${report.builds} builds`);
  const verdict = await checkRun({ logs, databaseUrl, blobDir, sample: command.sample });
  const { seconds, streams, eventsPerSecond, warmUpSeconds } = command;
  const planned = { seconds, streams, rate: eventsPerSecond / streams, warmUpSeconds };
  return {
    ...(await originOf(millrace, "chaos")),
    workload: { name: "mixed", hash: direct.workloadHash },
    plan: { ...planned, builds: undefined, rampSeconds: 1, processes: 2, preheatSeconds: 0 },
    ...loadFigures(report),
    ...outageFigures(parts, faults),
    ...oracleFigures(verdict),
  };
}

/** Nine of ten streams go straight to the front door, the rest over connections that can be cut. */
function plansOf(
  { seconds, streams, eventsPerSecond, warmUpSeconds }: ChaosCommand,
  of: { readonly addresses: readonly [string, string]; readonly logs: readonly string[] },
): readonly [LoadPlan, LoadPlan] {
  const cuttable = Math.max(1, Math.round(streams / 10));
  const plan = (nth: 0 | 1, count: number): LoadPlan => ({
    address: of.addresses[nth],
    log: of.logs[nth],
    workload: "mixed",
    streams: count,
    rate: eventsPerSecond / streams,
    seconds,
    warmUpSeconds,
    builds: undefined,
    rampSeconds: 1,
    apiKey: undefined,
    share: { index: 0, count: 1 },
  });
  const silences = { project: defaultProject, fromMs: silenceMsMin };
  return [{ ...plan(0, Math.max(1, streams - cuttable)), silences }, plan(1, cuttable)];
}

function uploadAll(
  [direct, cut]: readonly [LoadPlan, LoadPlan],
  onWindow: (isOpen: boolean) => void,
): Promise<[LoadOutcome, LoadOutcome]> {
  return Promise.all([runInProcesses(direct, 1, onWindow), runInProcesses(cut, 1)]);
}

function doFaults(
  { faults, seconds }: ChaosCommand,
  of: { readonly millrace: Millrace; readonly tell: Tell; cut(): void },
): Promise<Fault[]> {
  const { millrace, tell, cut } = of;
  return takeTurns(faults, {
    forMs: seconds * 1_000,
    clock: systemClock,
    pids: millrace.pids,
    doFault: async (name, at) => {
      tell(name);
      await faultActs[name]({ millrace, cut, clock: systemClock, ...at });
    },
  });
}
