import type { RequestState, ValidationRequest } from "../entities.ts";
import { releaseSlot } from "../slots.ts";
import type { SignalWrites } from "../store.ts";
import { changeState } from "./change-state.ts";
import { reject, type StageContext } from "./context.ts";
import { untilStored } from "./until-stored.ts";

/** How a request ends. */
export interface RequestEnd {
  readonly request: ValidationRequest;
  readonly state: "succeeded" | "failed" | "cancelled" | "superseded";
  readonly reason: string | null;
  /** The states it may end from; a request in another one is left alone. */
  readonly from: readonly RequestState[];
  /** A reconciler goes on without the queue's row. */
  readonly toleratesMissingQueue?: boolean;
}

/**
 * Ends a request: first its slot is freed, then its state is stored. A request that is terminal therefore never holds
 * a slot, wherever a crash falls. Both may be repeated.
 */
export async function endRequest(tx: SignalWrites, context: StageContext, end: RequestEnd): Promise<void> {
  const project = await freeSlot(tx, context, end);
  context.points.reach("slot-released");
  let current: ValidationRequest | undefined = end.request;
  const ended = await untilStored(context, {
    id: end.request.id,
    step: async () => {
      current ??= await tx.request(end.request.id);
      if (current === undefined || !end.from.includes(current.state)) return "over";
      const change = { state: end.state, reason: end.reason };
      const stored = await changeState(tx, context, { request: current, project, change });
      current = undefined;
      return stored;
    },
  });
  if (ended !== "over") context.metrics.ended(ended);
  context.points.reach("outcome-stored");
}

/** Frees the request's slot, if it has one; the queue's project. */
async function freeSlot(tx: SignalWrites, context: StageContext, end: RequestEnd): Promise<string> {
  const { request } = end;
  return await untilStored(context, {
    id: request.queue,
    step: async () => {
      const queue = await tx.queue(request.queue);
      if (queue === undefined) {
        if (end.toleratesMissingQueue) return "";
        throw reject("not-found", `there is no queue ${request.queue}`);
      }
      const freed = releaseSlot(queue, {
        owner: request.id,
        nextAdmissionAtMs: admissionAfter(context, end),
      });
      return freed === undefined || (await tx.updateQueue(freed)) ? queue.project : undefined;
    },
  });
}

/** A failed request may keep the queue closed for a while; 0: it does not. */
function admissionAfter(context: StageContext, end: RequestEnd): number {
  const cooldownMs = context.queues.get(end.request.queue)?.config.cooldown_after_failure_ms ?? 0;
  return end.state === "failed" && cooldownMs > 0 ? context.clock.now() + cooldownMs : 0;
}
