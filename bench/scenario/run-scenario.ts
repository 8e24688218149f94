import path from "node:path";
import { checkRun } from "../oracle/check-run.ts";
import type { ScenarioCommand } from "./command.ts";
import { directoryBytes } from "./directory-bytes.ts";
import { measureLoad, preheat } from "./measure-load.ts";
import { type Millrace, startMillrace } from "./millrace.ts";
import { originOf } from "./origin.ts";
import { machine } from "./provenance.ts";
import { loadFigures, type Origin, oracleFigures, type ResultLine } from "./result-line.ts";
import { serverFigures } from "./server-figures.ts";
import { ServerWatch } from "./server-watch.ts";

/** Runs a scenario once, on a Millrace of its own. `tell` gets a line about each step. */
export async function runScenario(
  command: ScenarioCommand,
  tell: (text: string) => void,
): Promise<ResultLine> {
  const machineBefore = machine();
  const millrace = await startMillrace({ keeps: command.keeps });
  const watch = new ServerWatch(millrace);
  try {
    if (command.keeps) tell(`keeps ${millrace.dataDir}`);
    return await measureAndCheck(command, { millrace, watch, tell, machineBefore });
  } catch (error) {
    tell(millrace.log());
    throw error;
  } finally {
    await watch.close();
    await millrace.stop();
  }
}

async function measureAndCheck(
  command: ScenarioCommand,
  of: {
    readonly millrace: Millrace;
    readonly watch: ServerWatch;
    readonly machineBefore: Origin["machine"];
    tell(text: string): void;
  },
): Promise<ResultLine> {
  const { millrace, watch, tell } = of;
  const { scenario, load, sample, checkpoints } = command;
  const runLog = path.join(millrace.dataDir, "run.log");
  const task = { address: millrace.grpcAddress, runLog, load, checkpoints };
  const blobDir = millrace.addresses.blobDirectory;
  const stored = async (): Promise<number> => sum(await watch.tableBytes()) + directoryBytes(blobDir);
  const storedBefore = await stored();
  if (command.preheat !== undefined) {
    tell(`warms up for ${command.preheatSeconds} s`);
    await preheat(task, { ...command.preheat, seconds: command.preheatSeconds });
  }
  tell(`uploads ${load.workload} builds over ${load.streams} streams`);
  const bytesBeforeLoad = command.preheat === undefined ? storedBefore : await stored();
  const { workloadHash, report, measured } = await measureLoad(task, watch);
  for (const message of report.messages) tell(`failed: ${message}`);
  const storageBytes = (await stored()) - bytesBeforeLoad;
  tell(`asks the oracle about ${report.builds} builds`);
  const databaseUrl = millrace.addresses.databaseUrl;
  const verdict = await checkRun({ logs: [runLog], databaseUrl, blobDir, sample });
  const { workload, ...plan } = load;
  return {
    ...(await originOf(millrace, scenario)),
    machine: of.machineBefore,
    workload: { name: workload, hash: workloadHash },
    plan: { ...plan, preheatSeconds: command.preheatSeconds },
    ...loadFigures(report),
    ...serverFigures(measured),
    storageBytesPerBuild: Math.round(storageBytes / Math.max(1, report.builds)),
    ...oracleFigures(verdict),
  };
}

function sum(bytes: Readonly<Record<string, number>>): number {
  return Object.values(bytes).reduce((total, one) => total + one, 0);
}
