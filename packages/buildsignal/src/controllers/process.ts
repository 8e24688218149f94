import type { Strategy, ValidationRequest } from "../entities.ts";
import { done, type Outcome } from "../queue/outcome.ts";
import { type ConfiguredQueue, configured } from "../queue-directory.ts";
import { compareRequestIds } from "../request-id.ts";
import { claimSlot, releaseSlot } from "../slots.ts";
import type { SignalWrites } from "../store.ts";
import { buildMessage } from "../topics.ts";
import { changeState } from "./change-state.ts";
import { loadRequest, type StageContext, type StageMessage, versionMismatch } from "./context.ts";
import { endRequest } from "./end-request.ts";
import { checkGate } from "./gate.ts";
import { untilStored } from "./until-stored.ts";

const roundsMax = 10;

/**
 * Decides about a request: superseded by a newer head, held until a slot is free, or admitted with a strategy, one
 * slot and a message to build. One that is being validated is only handed on again.
 */
export async function processRequest(context: StageContext, message: StageMessage): Promise<Outcome> {
  const request = await loadRequest(context, message);
  if (request.state === "processing") {
    await context.store.transact((tx) => tx.publish(buildMessage(request)));
    return done;
  }
  if (request.state !== "accepted") return done;
  const queue = configured(context.queues, request.queue);
  for (let round = 0; round < roundsMax; round += 1) {
    const outcome = await decide(context, { request, queue, signal: message.signal });
    if (outcome !== "again") return outcome;
  }
  throw versionMismatch(request.queue);
}

/** One look at the queue; "again" when it changed while deciding. */
async function decide(
  context: StageContext,
  at: { request: ValidationRequest; queue: ConfiguredQueue; signal: AbortSignal },
): Promise<Outcome | "again"> {
  const { request, queue } = at;
  const gate = await checkGate(context, { request, config: queue.config });
  if (gate.kind === "hold") return gate;
  const { row } = gate;
  if (compareRequestIds(row.name, request.id, row.latestRequestId) < 0) {
    await context.store.transact((tx) =>
      endRequest(tx, context, { request, state: "superseded", reason: null, from: ["accepted"] }),
    );
    return done;
  }
  const plan = await choosePlan(at, row.lastGreenUri);
  const admitted = await context.store.transact((tx) => admit(tx, context, { ...at, plan, gate }));
  return admitted === "again" ? "again" : done;
}

interface Plan {
  readonly strategy: Strategy;
  readonly baseUri: string;
}

/** Incremental when the last green commit is known to be an ancestor of this one. */
async function choosePlan(
  at: { request: ValidationRequest; queue: ConfiguredQueue; signal: AbortSignal },
  lastGreenUri: string,
): Promise<Plan> {
  const full: Plan = { strategy: "full", baseUri: "" };
  if (lastGreenUri === "") return full;
  const which = { base: lastGreenUri, head: at.request.uri };
  const isAncestor = await at.queue.source.isAncestor(which, at.signal);
  return isAncestor ? { strategy: "incremental_since_green", baseUri: lastGreenUri } : full;
}

type OpenGate = Extract<Awaited<ReturnType<typeof checkGate>>, { kind: "open" }>;

/** The slot, the state, the message: in this order. A claim that is left without its state is found by its owner. */
async function admit(
  tx: SignalWrites,
  context: StageContext,
  at: { request: ValidationRequest; queue: ConfiguredQueue; plan: Plan; gate: OpenGate },
): Promise<"admitted" | "lost" | "again"> {
  const { request, queue, plan } = at;
  const { row } = at.gate;
  const claimedAtMs = context.clock.now();
  const expiresAtMs = claimedAtMs + queue.config.max_validation_ms;
  const claimed = claimSlot(row, { owner: request.id, claimedAtMs, expiresAtMs });
  if (claimed !== undefined && !(await tx.updateQueue(claimed))) return "again";
  context.points.reach("slot-claimed");
  const marked = await mark(tx, context, { request, plan, project: row.project });
  if (marked === "lost") {
    await freeAgain(tx, context, request);
    return "lost";
  }
  context.points.reach("request-marked");
  await tx.publish(buildMessage(marked));
  context.points.reach("build-published");
  return "admitted";
}

/** Marks the request as processing with its plan, as long as it is accepted. */
async function mark(
  tx: SignalWrites,
  context: StageContext,
  what: { request: ValidationRequest; plan: Plan; project: string },
): Promise<ValidationRequest | "lost"> {
  let current: ValidationRequest | undefined = what.request;
  return await untilStored<ValidationRequest | "lost">(context, {
    id: what.request.id,
    step: async () => {
      current ??= await tx.request(what.request.id);
      if (current?.state !== "accepted") return "lost";
      const change = { state: "processing", with: what.plan } as const;
      const marked = await changeState(tx, context, { request: current, project: what.project, change });
      current = undefined;
      return marked;
    },
  });
}

/** Somebody else decided about the request. One that is being validated keeps its slot. */
async function freeAgain(tx: SignalWrites, context: StageContext, request: ValidationRequest): Promise<void> {
  await untilStored(context, {
    id: request.queue,
    step: async () => {
      if ((await tx.request(request.id))?.state === "processing") return true;
      const row = await tx.queue(request.queue);
      const freed = row === undefined ? undefined : releaseSlot(row, { owner: request.id });
      return freed === undefined || (await tx.updateQueue(freed)) ? true : undefined;
    },
  });
}
