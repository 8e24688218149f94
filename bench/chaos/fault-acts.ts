import { readFileSync } from "node:fs";
import { type Clock, delay } from "@millrace/base/clock";
import { isAlive, sendSignal } from "@millrace/cli/services/spawn-service";
import type { Millrace } from "../scenario/millrace.ts";
import type { FaultName } from "./fault.ts";

export interface FaultWorld {
  readonly millrace: Pick<Millrace, "pids" | "addresses">;
  readonly clock: Clock;
  /** Cuts the connections that can be cut. */
  readonly cut: () => void;
  /** How many faults have been before this one: what there are several of is taken in turn. */
  readonly turn: number;
  /** Told of a process that is killed or told to end. */
  readonly ended: (name: string) => void;
  /** Told of a process that did not end in time and is killed. */
  readonly overdue: (name: string) => void;
}

const stoppedMs = 15_000;
const pollDelayMs = 50;
const successorMaxMs = 120_000;
/** What supervisors usually give a process to end by itself. */
const graceMs = 30_000;

/** Each does its fault and resolves when that is over: what was killed is back, what was stopped goes on. */
export const faultActs: Readonly<Record<FaultName, (world: FaultWorld) => Promise<void>>> = {
  "kill-writer": (world) => end(writerOf(world), { world, signal: "SIGKILL" }),
  "kill-ingest": (world) => end("ingest", { world, signal: "SIGKILL" }),
  "kill-nats": (world) => end("nats", { world, signal: "SIGKILL" }),
  "kill-postgres": (world) => end("postgres", { world, signal: "SIGKILL" }),
  "stop-writer": (world) => freeze(writerOf(world), world),
  "stop-ingest": (world) => freeze("ingest", world),
  "stop-nats": (world) => freeze("nats", world),
  "stop-postgres": (world) => freeze("postgres", world),
  roll: async (world) => {
    const names = Object.keys(world.millrace.pids()).filter((name) => name.startsWith("writer-"));
    for (const name of [...names, "ingest", "api"]) await end(name, { world, signal: "SIGTERM" });
  },
  cut: async (world) => world.cut(),
  "crash-thread": async ({ millrace }) => {
    const url = `${millrace.addresses.opsUrl}/debug/crash-thread/0`;
    // Without an answer more than the thread has died, which the fault's `alsoDied` tells.
    const answer = await fetch(url, { method: "POST" }).catch(() => undefined);
    if (answer !== undefined && answer.status !== 202)
      throw new Error(`a worker thread could not be crashed: ${answer.status}`);
  },
};

function writerOf({ millrace, turn }: FaultWorld): string {
  const writers = Object.keys(millrace.pids()).filter((name) => name.startsWith("writer-"));
  const writer = writers[turn % writers.length];
  if (writer === undefined) throw new Error("there is no writer");
  return writer;
}

/** Ends a process and waits until supervision has put another one in its place. */
async function end(
  name: string,
  of: { readonly world: FaultWorld; readonly signal: "SIGKILL" | "SIGTERM" },
): Promise<void> {
  const { millrace, clock, ended, overdue } = of.world;
  const pid = pidOf(millrace, name);
  ended(name);
  sendSignal(pid, of.signal);
  const startMs = clock.monotonic();
  const untilMs = startMs + successorMaxMs;
  let isOverdue = false;
  for (;;) {
    const now = millrace.pids()[name] ?? pid;
    if (now !== pid && isAlive(now)) return;
    if (!isOverdue && isAlive(pid) && clock.monotonic() > startMs + graceMs) {
      isOverdue = true;
      overdue(name);
      sendSignal(pid, "SIGKILL");
    }
    if (clock.monotonic() > untilMs) throw new Error(`nothing came in the place of ${name}`);
    await delay(clock, pollDelayMs);
  }
}

/** Stops a process and its children, the parent first: it can start nothing while they are stopped. */
async function freeze(name: string, { millrace, clock }: FaultWorld): Promise<void> {
  const pid = pidOf(millrace, name);
  sendSignal(pid, "SIGSTOP");
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  const family = [pid, ...children.map(Number)];
  for (const one of family) sendSignal(one, "SIGSTOP");
  await delay(clock, stoppedMs);
  for (const one of family) sendSignal(one, "SIGCONT");
}

function pidOf(millrace: Pick<Millrace, "pids">, name: string): number {
  const pid = millrace.pids()[name];
  if (pid === undefined) throw new Error(`there is no process ${name}`);
  return pid;
}
