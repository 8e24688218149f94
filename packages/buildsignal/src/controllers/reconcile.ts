import { errorText, MillraceError } from "@millrace/base/errors";
import { type Build, hasVerdict, isTerminalState, type ValidationRequest } from "../entities.ts";
import { done, type Outcome } from "../queue/outcome.ts";
import { isTerminalStatus } from "../runner.ts";
import { recordMessage } from "../topics.ts";
import { cancelQuietly } from "./cancel-build.ts";
import type { StageContext, StageMessage } from "./context.ts";
import { endRequest } from "./end-request.ts";
import { recordLocally } from "./record.ts";
import { type Observed, observedOf, settleBuild } from "./settle-build.ts";

/** For the dead letters of process and build: the request fails closed and its slot is free. */
export async function reconcileRequest(context: StageContext, message: StageMessage): Promise<Outcome> {
  const request = await context.store.request(message.payload.id);
  if (request === undefined) return dropped(context, `there is no request ${message.payload.id}`);
  if (isTerminalState(request.state)) return done;
  const build = request.buildId === null ? undefined : await context.store.build(request.buildId);
  if (build !== undefined) return await failThroughBuild(context, message, { build, request });
  await failRequest(context, request, "processing_failed");
  return done;
}

/** For the dead letters of buildsignal. */
export async function reconcileBuild(context: StageContext, message: StageMessage): Promise<Outcome> {
  const found = await context.store.polledBuild(message.payload.id);
  // It was started and never stored: the dead letter of its build stage fails the request.
  if (found === undefined) return dropped(context, `there is no build ${message.payload.id}`);
  const { build, request } = found;
  if (request === undefined) return dropped(context, `${build.id} has no request ${build.requestId}`);
  if (isTerminalState(request.state)) {
    // The crash that cost the last attempt may have come between the outcome and its message.
    if (hasVerdict(request)) await context.store.transact((tx) => tx.publish(recordMessage(request)));
    return done;
  }
  return await failThroughBuild(context, message, { build, request });
}

/** For the dead letters of record: what is ours is repaired; what reaches outside is never run again from here. */
export async function reconcileRecord(context: StageContext, message: StageMessage): Promise<Outcome> {
  const request = await context.store.request(message.payload.id);
  if (request === undefined) return dropped(context, `there is no request ${message.payload.id}`);
  if (!hasVerdict(request)) return done;
  try {
    await recordLocally(context, request);
  } catch (error) {
    if (!(error instanceof MillraceError) || error.remedy === "retry") throw error;
    context.metrics.recordAbandoned(request.queue);
    context.log.error("record_abandoned", { request: request.id, error: errorText(error) });
  }
  return done;
}

/** A build may have ended after all: then that counts. Otherwise it is cancelled and its request fails. */
async function failThroughBuild(
  context: StageContext,
  message: StageMessage,
  which: { build: Build; request: ValidationRequest },
): Promise<Outcome> {
  const { build, request } = which;
  if (isTerminalStatus(build.status)) {
    await settleBuild(context, which);
    return done;
  }
  const observed = await askOnceMore(context, message, build);
  if (observed !== undefined && isTerminalStatus(observed.status)) {
    await settleBuild(context, { ...which, observed });
    return done;
  }
  const { queue, handle } = build;
  await cancelQuietly(context, { queue, handle, cause: "dead_letter", signal: message.signal });
  await failRequest(context, request, "build_polling_exhausted");
  return done;
}

async function askOnceMore(
  context: StageContext,
  message: StageMessage,
  build: Build,
): Promise<Observed | undefined> {
  try {
    const queue = context.queues.get(build.queue);
    if (queue === undefined) return undefined;
    return observedOf(await queue.runner.status(build.handle, message.signal));
  } catch (error) {
    context.log.warn("a build that is given up did not answer", { build: build.id, error: errorText(error) });
    return undefined;
  }
}

async function failRequest(context: StageContext, request: ValidationRequest, reason: string): Promise<void> {
  await context.store.transact((tx) =>
    endRequest(tx, context, {
      request,
      state: "failed",
      reason,
      from: ["accepted", "processing"],
      toleratesMissingQueue: true,
    }),
  );
}

function dropped(context: StageContext, why: string): Outcome {
  context.log.warn("a dead letter is about nothing", { stage: context.who, why });
  return done;
}
