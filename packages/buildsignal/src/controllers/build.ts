import { type Build, buildIdOf, changed, isTerminalState, type ValidationRequest } from "../entities.ts";
import { done, type Outcome } from "../queue/outcome.ts";
import { type ConfiguredQueue, configured } from "../queue-directory.ts";
import type { TriggeredBuild } from "../runner.ts";
import { buildsignalMessage } from "../topics.ts";
import { cancelQuietly } from "./cancel-build.ts";
import { loadRequest, reject, type StageContext, type StageMessage, versionMismatch } from "./context.ts";
import { untilStored } from "./until-stored.ts";

const handleCharsMax = 500;

/**
 * Starts a build for a request and hands it to buildsignal. A request that has a build is handed on without another;
 * a build that is started for a request that ended meanwhile, or has another build by now, is cancelled.
 */
export async function startBuild(context: StageContext, message: StageMessage): Promise<Outcome> {
  const request = await loadRequest(context, message);
  if (isTerminalState(request.state)) return done;
  if (request.strategy === "") throw versionMismatch(request.id); // Not marked as processing yet.
  const queue = configured(context.queues, request.queue);
  if (request.buildId !== null) return await handOn(context, request.buildId);

  const triggered = await queue.runner.trigger(
    {
      queue: queue.name,
      project: queue.config.project,
      baseUri: request.baseUri,
      headUri: request.uri,
      key: request.id,
      metadata: { ...queue.config.metadata, ...request.metadata },
    },
    message.signal,
  );
  context.points.reach("triggered");
  const build = newBuild(context, { request, queue, triggered });
  const isWanted = await storeBuild(context, build);
  context.points.reach("build-stored");
  if (!isWanted) {
    const { handle } = build;
    await cancelQuietly(context, { queue: queue.name, handle, cause: "unwanted", signal: message.signal });
  }
  return done;
}

async function handOn(context: StageContext, buildId: string): Promise<Outcome> {
  const build = await context.store.build(buildId);
  if (build === undefined) throw reject("not-found", `there is no build ${buildId}`);
  await context.store.transact((tx) => tx.publish(buildsignalMessage(build)));
  return done;
}

function newBuild(
  context: StageContext,
  from: { request: ValidationRequest; queue: ConfiguredQueue; triggered: TriggeredBuild },
): Build {
  const { request, queue, triggered } = from;
  const handle = triggered.buildId;
  if (handle === "" || handle.length > handleCharsMax) {
    throw reject(
      "bad-build-id",
      `the runner of ${queue.name} gave a build an id of ${handle.length} characters`,
    );
  }
  const createdAtMs = context.clock.now();
  return {
    id: buildIdOf(queue.name, handle),
    queue: queue.name,
    handle,
    requestId: request.id,
    status: "accepted",
    reason: null,
    providerState: "",
    url: triggered.url ?? "",
    metadata: triggered.metadata ?? {},
    createdAtMs,
    deadlineAtMs: createdAtMs + queue.config.max_validation_ms,
    version: 1,
  };
}

/** Stores the build, ties the request to it and hands it on; false when the request has no use for it. */
async function storeBuild(context: StageContext, build: Build): Promise<boolean> {
  return await context.store.transact(async (tx) => {
    const isWanted = await untilStored(context, {
      id: build.requestId,
      step: async () => {
        const request = await tx.request(build.requestId);
        if (request === undefined || isTerminalState(request.state)) return "no";
        if (request.buildId === build.id) return "yes";
        if (request.buildId !== null) return "no";
        if (!(await tx.createBuild(build))) {
          const older = await tx.build(build.id);
          if (older?.requestId !== build.requestId) {
            throw reject("foreign-build", `${build.id} belongs to ${older?.requestId ?? "nobody"}`);
          }
        }
        return (await tx.updateRequest(changed(request, { buildId: build.id }))) ? "yes" : undefined;
      },
    });
    if (isWanted === "yes") await tx.publish(buildsignalMessage(build));
    return isWanted === "yes";
  });
}
