import type { SignalQueue, ValidationRequest } from "../entities.ts";
import { isTerminalState } from "../entities.ts";
import type { Outcome } from "../queue/outcome.ts";
import type { QueueConfig } from "../queue-config.ts";
import { compareRequestIds } from "../request-id.ts";
import { expiredOwners, holdsSlot, releaseSlot } from "../slots.ts";
import { reject, type StageContext } from "./context.ts";
import { untilStored } from "./until-stored.ts";

type Hold = Extract<Outcome, { kind: "hold" }>;

/** Whether a request may go on now: the queue's row as it was seen, or how long to wait. */
export async function checkGate(
  context: StageContext,
  at: { request: ValidationRequest; config: QueueConfig },
): Promise<{ readonly kind: "open"; readonly row: SignalQueue } | Hold> {
  const { request, config } = at;
  const row = await context.store.queue(request.queue);
  if (row === undefined) throw reject("not-found", `there is no queue ${request.queue}`);
  const wait: Hold = { kind: "hold", delayMs: config.gate_wait_delay_ms };
  // Ingest has not come to it yet.
  if (row.latestRequestId === "") return wait;
  const isOlder = compareRequestIds(row.name, request.id, row.latestRequestId) < 0;
  if (isOlder || holdsSlot(row, request.id)) return { kind: "open", row };
  const untilAdmissionMs = row.nextAdmissionAtMs - context.clock.now();
  if (untilAdmissionMs > 0) return { ...wait, delayMs: Math.min(wait.delayMs, untilAdmissionMs) };
  if (row.slots.length < config.max_concurrent) return { kind: "open", row };
  return (await sweepSlots(context, row)) ? { ...wait, delayMs: 0 } : wait;
}

/**
 * Frees slots that are past their time and whose requests do not run: they were left behind by a crash. A request
 * that is being validated keeps its slot; its build's deadline ends it. True when one was freed.
 */
async function sweepSlots(context: StageContext, seen: SignalQueue): Promise<boolean> {
  let hasFreed = false;
  for (const owner of expiredOwners(seen, context.clock.now())) {
    const request = await context.store.request(owner);
    const isIdle = request === undefined || request.state === "accepted" || isTerminalState(request.state);
    if (!isIdle) continue;
    await context.store.transact((tx) =>
      untilStored(context, {
        id: seen.name,
        step: async () => {
          const row = await tx.queue(seen.name);
          const freed = row === undefined ? undefined : releaseSlot(row, { owner });
          return freed === undefined || (await tx.updateQueue(freed)) ? true : undefined;
        },
      }),
    );
    hasFreed = true;
  }
  return hasFreed;
}
