import { startBuild } from "./controllers/build.ts";
import { pollBuild } from "./controllers/buildsignal.ts";
import type { StageContext, StageMessage } from "./controllers/context.ts";
import { processRequest } from "./controllers/process.ts";
import { reconcileBuild, reconcileRecord, reconcileRequest } from "./controllers/reconcile.ts";
import { recordOutcome } from "./controllers/record.ts";
import type { Subscription } from "./queue/consumers.ts";
import { deadGroupOf, deadTopicOf } from "./queue/message.ts";
import type { Outcome } from "./queue/outcome.ts";
import { reconcilerSettings, type TopicSettings } from "./queue/topic-settings.ts";
import { decodePayload, groupOf, type Stage, stages } from "./topics.ts";

type Controller = (context: StageContext, message: StageMessage) => Promise<Outcome>;

const controllers: Readonly<Record<Stage, { work: Controller; reconcile: Controller }>> = {
  process: { work: processRequest, reconcile: reconcileRequest },
  build: { work: startBuild, reconcile: reconcileRequest },
  buildsignal: { work: pollBuild, reconcile: reconcileBuild },
  record: { work: recordOutcome, reconcile: reconcileRecord },
};

/** A context whose queues may be read again: another process may just have configured one. */
export interface RefreshedContext extends Omit<StageContext, "who"> {
  lookForQueue?(name: string): Promise<void>;
}

/** Every stage with the reconciler of its dead letters. The context's `who` is set for each. */
export function stageSubscriptions(
  context: RefreshedContext,
  settingsOf: (stage: Stage) => TopicSettings,
): Subscription[] {
  return stages.flatMap((stage) => {
    const settings = settingsOf(stage);
    const { work, reconcile } = controllers[stage];
    const dead = deadTopicOf(stage);
    return [
      subscription(
        { topic: stage, group: groupOf(stage), settings },
        { controller: work, context: { ...context, who: stage } },
      ),
      subscription(
        { topic: dead, group: deadGroupOf(groupOf(stage)), settings: reconcilerSettings(settings) },
        { controller: reconcile, context: { ...context, who: dead } },
      ),
    ];
  });
}

function subscription(
  at: Omit<Subscription, "handle">,
  by: { controller: Controller; context: RefreshedContext & StageContext },
): Subscription {
  const { controller, context } = by;
  return {
    ...at,
    handle: async (delivery, signal) => {
      const payload = decodePayload(delivery.payload);
      if (payload.queue !== "" && !context.queues.has(payload.queue))
        await context.lookForQueue?.(payload.queue);
      return await controller(context, { payload, holds: delivery.holds, signal });
    },
  };
}
