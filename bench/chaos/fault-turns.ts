import { type Clock, delay } from "@millrace/base/clock";
import type { Fault, FaultName } from "./fault.ts";

/** Does one fault; see FaultWorld. */
export type DoFault = (
  name: FaultName,
  at: { turn: number; ended: (name: string) => void; overdue: (name: string) => void },
) => Promise<void>;

/** From the begin of one fault to the next; what lasts longer itself is followed by as much rest. */
const periodMs = 20_000;
/** No fault begins so shortly before the end: its consequences are to be seen. */
const lastBeforeEndMs = 15_000;
const firstAfterMs = 5_000;

/**
 * Does the faults in turn, again and again, for `forMs`, at least one. Rejects when one of them could not be done: a
 * run in which what was killed did not come back proves nothing.
 */
export async function takeTurns(
  names: readonly FaultName[],
  of: {
    readonly forMs: number;
    readonly clock: Clock;
    /** Process numbers now, by name. */
    readonly pids: () => Readonly<Record<string, number>>;
    readonly doFault: DoFault;
  },
): Promise<Fault[]> {
  const { clock, doFault } = of;
  const untilMs = clock.monotonic() + of.forMs - lastBeforeEndMs;
  const faults: Fault[] = [];
  await delay(clock, Math.min(firstAfterMs, of.forMs));
  for (let turn = 0; turn === 0 || clock.monotonic() < untilMs; turn += 1) {
    const name = names[turn % names.length];
    if (name === undefined) return faults;
    const fromMs = clock.now();
    const pidsBefore = of.pids();
    const ended: { name: string; atMs: number }[] = [];
    const overdue: string[] = [];
    const notes = {
      ended: (process: string) => void ended.push({ name: process, atMs: clock.now() }),
      overdue: (process: string) => void overdue.push(process),
    };
    await doFault(name, { turn, ...notes });
    const toMs = clock.now();
    const hasRest = isKill(name) ? periodMs - (toMs - fromMs) : periodMs;
    await delay(clock, Math.max(0, Math.min(hasRest, untilMs + lastBeforeEndMs - clock.monotonic())));
    const alsoDied = differing(pidsBefore, of.pids()).filter(
      (one) => !ended.some((told) => told.name === one),
    );
    faults.push({ name, fromMs, toMs, ended, overdue, alsoDied });
  }
  return faults;
}

function differing(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
): string[] {
  return Object.keys(before).filter((name) => before[name] !== after[name]);
}

function isKill(name: FaultName): boolean {
  return name.startsWith("kill-");
}
