import { type ChildProcess, fork } from "node:child_process";
import { systemClock } from "@millrace/base/clock";
import { systemRandom } from "@millrace/base/random";
import type { Workload } from "../workloads/workload.ts";
import { workloadNamed } from "../workloads/workloads.ts";
import type { LoadMeasures } from "./load-meter.ts";
import { type LoadPlan, shareOf } from "./load-plan.ts";
import { runLoad } from "./run-load.ts";
import { RunLogWriter } from "./run-log.ts";

/** From a child: it has its workloads and can begin, its measuring begins or ends, it is done. */
type FromChild =
  | { readonly kind: "ready"; readonly hash: string }
  | { readonly kind: "window"; readonly isOpen: boolean }
  | { readonly kind: "measured"; readonly measures: LoadMeasures };

/** Of a mixed run the hashes of both, joined by "+". */
export interface LoadOutcome {
  readonly workloadHash: string;
  readonly parts: readonly LoadMeasures[];
}

/** Runs the plan in this process. */
export async function runHere(plan: LoadPlan): Promise<LoadOutcome> {
  const workloads = workloadsOf(plan);
  return { workloadHash: hashOf(workloads), parts: [await runWith(plan, workloads)] };
}

/**
 * Shares the plan among processes, which begin together. `onWindow` is told when the first of them begins to measure
 * and when it ends. Rejects when one of them dies.
 */
export async function runInProcesses(
  plan: LoadPlan,
  count: number,
  onWindow: (isOpen: boolean) => void = () => {},
): Promise<LoadOutcome> {
  const children = Array.from({ length: count }, (_, index) => {
    const share = shareOf(plan, { index, count });
    const file = new URL("./load-child.ts", import.meta.url);
    return fork(file, [JSON.stringify(share)], { serialization: "advanced" });
  });
  try {
    const hashes = await Promise.all(children.map((child) => answerOf(child, "ready")));
    const measured = children.map((child) => answerOf(child, "measured"));
    children[0]?.on("message", (message: unknown) => {
      const told = message as FromChild;
      if (told.kind === "window") onWindow(told.isOpen);
    });
    for (const child of children) child.send("go");
    const parts = (await Promise.all(measured)).map((answer) => answer.measures);
    return { workloadHash: hashes[0]?.hash ?? "", parts };
  } finally {
    for (const child of children) child.kill("SIGKILL");
  }
}

/** The whole life of a child: says that it is ready, waits for the word, answers what it measured. */
export async function runAsChild(plan: LoadPlan): Promise<void> {
  const workloads = workloadsOf(plan);
  process.on("disconnect", () => process.exit(1)); // Who would read the result is gone.
  const toGo = new Promise<void>((resolve) => process.once("message", () => resolve()));
  say({ kind: "ready", hash: hashOf(workloads) });
  await toGo;
  const onWindow = (isOpen: boolean): void => say({ kind: "window", isOpen });
  say({ kind: "measured", measures: await runWith(plan, workloads, onWindow) });
}

async function runWith(
  plan: LoadPlan,
  workloads: readonly Workload[],
  onWindow: (isOpen: boolean) => void = () => {},
): Promise<LoadMeasures> {
  const log = plan.log === undefined ? undefined : new RunLogWriter(plan.log, systemClock);
  try {
    return await runLoad(plan, { clock: systemClock, random: systemRandom, workloads, log, onWindow });
  } finally {
    await log?.close();
  }
}

function workloadsOf(plan: LoadPlan): Workload[] {
  return (plan.workload === "mixed" ? ["real", "tiny"] : [plan.workload]).map(workloadNamed);
}

function hashOf(workloads: readonly Workload[]): string {
  return workloads.map((workload) => workload.hash).join("+");
}

function say(message: FromChild): void {
  process.send?.(message);
}

function answerOf<K extends FromChild["kind"]>(
  child: ChildProcess,
  kind: K,
): Promise<Extract<FromChild, { kind: K }>> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: unknown): void => {
      const answer = message as FromChild;
      if (answer.kind !== kind) return;
      child.off("message", onMessage);
      resolve(answer as Extract<FromChild, { kind: K }>);
    };
    child.on("message", onMessage);
    child.once("exit", (code, signal) => reject(new Error(`a generator process ended: ${signal ?? code}`)));
  });
}
