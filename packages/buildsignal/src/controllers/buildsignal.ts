import { pollDelayMs } from "../cadence.ts";
import type { Build, ValidationRequest } from "../entities.ts";
import { done, type Outcome } from "../queue/outcome.ts";
import { type ConfiguredQueue, configured } from "../queue-directory.ts";
import { isTerminalStatus } from "../runner.ts";
import { cancelQuietly } from "./cancel-build.ts";
import { checkQueue, reject, type StageContext, type StageMessage } from "./context.ts";
import { type Observed, observedOf, settleBuild, storeStatus } from "./settle-build.ts";

/**
 * Asks the runner for a build, again and again, until it is terminal or past its deadline; then stores the status
 * once, frees the slot, projects the outcome on the request and has it recorded. A poll that finds nothing new writes
 * nothing and is held.
 */
export async function pollBuild(context: StageContext, message: StageMessage): Promise<Outcome> {
  const { build, request } = await loadBuild(context, message);
  // Accepted or superseded: it never had a slot.
  if (request.state === "accepted" || request.state === "superseded") return done;
  const queue = configured(context.queues, request.queue);
  if (isTerminalStatus(build.status)) {
    await settleBuild(context, { build, request });
    return done;
  }
  const untilDeadlineMs = build.deadlineAtMs - context.clock.now();
  if (untilDeadlineMs <= 0) return await giveUp(context, message, { build, request });

  const observation = await queue.runner.status(build.handle, message.signal);
  context.metrics.polled(queue.name, observation.status);
  const observed = observedOf(observation);
  if (observed === undefined) context.metrics.unknownStatus(queue.name);
  if (observed !== undefined && isTerminalStatus(observed.status)) {
    await settleBuild(context, { build, request, observed });
    return done;
  }
  const isNew = observed !== undefined && observed.status !== build.status;
  if (isNew) await context.store.transact((tx) => storeStatus(tx, build, observed));
  const status = observed?.status ?? build.status;
  const delayMs = nextPollMs(context, {
    status,
    isNew,
    message,
    queue,
    retryAfterMs: observation.retryAfterMs,
  });
  return { kind: "hold", delayMs: Math.min(delayMs, untilDeadlineMs), fresh: isNew };
}

async function loadBuild(
  context: StageContext,
  { payload }: StageMessage,
): Promise<{ build: Build; request: ValidationRequest }> {
  const found = await context.store.polledBuild(payload.id);
  if (found === undefined) throw reject("not-found", `there is no build ${payload.id}`);
  const { build, request } = found;
  if (request === undefined) throw reject("not-found", `there is no request ${build.requestId}`);
  checkQueue(payload, request);
  return { build, request };
}

function nextPollMs(
  context: StageContext,
  at: {
    status: Observed["status"];
    isNew: boolean;
    message: StageMessage;
    queue: ConfiguredQueue;
    retryAfterMs: number | undefined;
  },
): number {
  return pollDelayMs(at.queue.config.cadence, {
    status: at.status,
    polls: at.isNew ? 0 : at.message.holds,
    retryAfterMs: at.retryAfterMs,
    random: context.random,
  });
}

/** Past the deadline: the build is cancelled, and its request fails for a reason that is no verdict. */
async function giveUp(
  context: StageContext,
  message: StageMessage,
  which: { build: Build; request: ValidationRequest },
): Promise<Outcome> {
  const { queue, handle } = which.build;
  await cancelQuietly(context, { queue, handle, cause: "timed_out", signal: message.signal });
  await settleBuild(context, { ...which, observed: { status: "failed", reason: "timed_out" } });
  return done;
}
