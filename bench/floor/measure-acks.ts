import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import type { LoadPlan } from "../load/load-plan.ts";
import { runInProcesses } from "../load/load-process.ts";
import { reportOf } from "../load/load-report.ts";
import { usageOf } from "../scenario/process-usage.ts";
import { loadFigures } from "../scenario/result-line.ts";
import type { AckFigures } from "./floor-line.ts";

/** The generator against a server, in a process of its own, that acknowledges at once and stores nothing. */
export async function measureAcks(
  plan: Pick<LoadPlan, "workload" | "streams" | "seconds" | "warmUpSeconds">,
): Promise<{ figures: AckFigures; workloadHash: string }> {
  const server = spawn(process.execPath, [path.resolve(import.meta.dirname, "../load/ack-server.ts")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [address] = await once(server.stdout, "data");
    const cpuMicros: number[] = [];
    const { workloadHash, parts } = await runInProcesses(loadPlan(plan, String(address).trim()), 1, () =>
      cpuMicros.push(cpuMicrosOf(server)),
    );
    const report = reportOf(parts);
    const events = parts.reduce((sum, part) => sum + part.window.events, 0);
    const [openedMicros = 0, closedMicros = 0] = cpuMicros;
    const perEvent = Number(((closedMicros - openedMicros) / Math.max(1, events)).toFixed(2));
    return {
      workloadHash,
      figures: { ...loadFigures(report), cpuMicrosPerEvent: { server: perEvent, total: perEvent } },
    };
  } finally {
    server.kill();
  }
}

function loadPlan(
  plan: Pick<LoadPlan, "workload" | "streams" | "seconds" | "warmUpSeconds">,
  address: string,
): LoadPlan {
  const flatOut = { builds: undefined, rate: 0, rampSeconds: 0, log: undefined, apiKey: undefined };
  return { ...plan, ...flatOut, address, share: { index: 0, count: 1 } };
}

function cpuMicrosOf(server: ChildProcess): number {
  return usageOf({ server: server.pid ?? 0 })["server"]?.cpuMicros ?? 0;
}
