import { type Clock, delay } from "@millrace/base/clock";
import { sendSignal } from "../services/spawn-service.ts";
import { isStillRunning, type ProcessIdentity } from "./process-identity.ts";
import type { RunningState } from "./running-state.ts";

/** They know that their supervisor is gone and are ending already. */
const patienceMs = 3_000;
const pollDelayMs = 20;

/**
 * Waits until the processes of an earlier `up` that was killed have ended, and kills those that do not: an event
 * is acknowledged only once it is committed, so nothing is lost by it. PostgreSQL looks after itself.
 */
export async function clearLeftovers(
  last: RunningState | undefined,
  world: { clock: Clock; onLeftover: (name: string, pid: number) => void },
): Promise<void> {
  const processes = Object.entries(last?.processes ?? {}).filter(([name]) => name !== "postgres");
  const left = processes.filter(([, identity]) => isStillRunning(identity));
  for (const [name, { pid }] of left) world.onLeftover(name, pid);
  await Promise.all(left.map(([, identity]) => waitForEnd(identity, world.clock)));
}

async function waitForEnd(identity: ProcessIdentity, clock: Clock): Promise<void> {
  const killAtMs = clock.monotonic() + patienceMs;
  while (isStillRunning(identity)) {
    if (clock.monotonic() >= killAtMs) sendSignal(identity.pid, "SIGKILL");
    await delay(clock, pollDelayMs);
  }
}
