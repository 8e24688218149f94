import { hasVerdict, type SignalQueue, type ValidationFact, type ValidationRequest } from "../entities.ts";
import { done, type Outcome } from "../queue/outcome.ts";
import { configured } from "../queue-directory.ts";
import { compareRequestIds } from "../request-id.ts";
import type { SignalWrites } from "../store.ts";
import { loadRequest, reject, type StageContext, type StageMessage } from "./context.ts";
import { untilStored } from "./until-stored.ts";

/** The whole repository. */
const wholePart = "";

/**
 * Writes down what a build found out about its commit, once and for ever. A green commit that is not older than the
 * last green one becomes it and is promoted. An outcome that is no verdict leaves no fact.
 */
export async function recordOutcome(context: StageContext, message: StageMessage): Promise<Outcome> {
  const request = await loadRequest(context, message);
  if (request.state === "accepted" || request.state === "processing") {
    throw reject("not-terminal", `${request.id} is to be recorded and is ${request.state}`);
  }
  if (!hasVerdict(request)) return done;
  const recorded = await recordLocally(context, request);
  if (request.state === "failed" && recorded.isNew && request.baseUri !== "") {
    context.metrics.detected(request.queue, context.clock.now() - request.createdAtMs);
  }
  if (!recorded.isLastGreen) return done;
  const { source } = configured(context.queues, request.queue);
  if ((await source.promote(request.uri, message.signal)) === "not_found") {
    context.metrics.promotionMissed(request.queue);
    context.log.warn("a green commit is not there any more", { request: request.id, uri: request.uri });
  }
  context.points.reach("promoted");
  return done;
}

/** The fact and, for a green commit, the queue's bookmark: all of recording that stays in our database. */
export async function recordLocally(
  context: StageContext,
  request: ValidationRequest,
): Promise<{ isNew: boolean; isLastGreen: boolean }> {
  return await context.store.transact(async (tx) => {
    const isNew = await storeFact(tx, context, request);
    context.points.reach("fact-stored");
    if (request.state !== "succeeded") return { isNew, isLastGreen: false };
    const isLastGreen = await moveBookmark(tx, context, request);
    context.points.reach("bookmark-moved");
    return { isNew, isLastGreen };
  });
}

async function storeFact(
  tx: SignalWrites,
  context: StageContext,
  request: ValidationRequest,
): Promise<boolean> {
  const fact: ValidationFact = {
    queue: request.queue,
    uri: request.uri,
    part: wholePart,
    degree: request.state === "succeeded" ? 0 : 1,
    requestId: request.id,
    createdAtMs: context.clock.now(),
  };
  if (await tx.createFact(fact)) {
    const kind = fact.degree === 0 ? "commit-green" : "commit-broken";
    const { queue, uri, degree } = fact;
    const data = { requestId: request.id, queue, uri, degree, buildId: request.buildId };
    const row = await tx.queue(queue);
    if (row === undefined) throw reject("not-found", `there is no queue ${queue}`);
    await tx.announce({ project: row.project, kind, subject: request.id, data });
    return true;
  }
  const stored = await tx.fact(request.queue, request.uri, wholePart);
  if (stored?.requestId === request.id) return false;
  throw reject("foreign-fact", `${request.uri} has a fact of ${stored?.requestId ?? "nobody"}`);
}

/** Moves the last green commit forward to this one; true when it stands there now. */
async function moveBookmark(
  tx: SignalWrites,
  context: StageContext,
  request: ValidationRequest,
): Promise<boolean> {
  return await untilStored(context, {
    id: request.queue,
    step: async () => {
      const row = await tx.queue(request.queue);
      if (row === undefined) throw reject("not-found", `there is no queue ${request.queue}`);
      const order = orderToBookmark(row, request);
      if (order <= 0) return order === 0;
      const moved: SignalQueue = {
        ...row,
        lastGreenUri: request.uri,
        lastGreenRequestId: request.id,
        version: row.version + 1,
      };
      return (await tx.updateQueue(moved)) ? true : undefined;
    },
  });
}

/** Positive when the request is newer than the last green one, 0 when it is that one. */
function orderToBookmark(row: SignalQueue, request: ValidationRequest): number {
  if (row.lastGreenRequestId === "") return 1;
  return compareRequestIds(row.name, request.id, row.lastGreenRequestId);
}
