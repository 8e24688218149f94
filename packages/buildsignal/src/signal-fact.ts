import type { Clock } from "@millrace/base/clock";
import type { Random } from "@millrace/base/random";
import { signalFactSubject } from "@millrace/proto/channels";
import type { SignalFact } from "./store.ts";

/** A fact as a row of the outbox. */
export interface OutboxFact {
  readonly projectId: string;
  readonly subject: string;
  readonly event: object;
}

/** The fact as a CloudEvent (https://cloudevents.io, 1.0.2). Delivery is at least once; `id` tells repeats. */
export function outboxFact(fact: SignalFact, world: { clock: Clock; random: Random }): OutboxFact {
  return {
    projectId: fact.project,
    subject: signalFactSubject(fact.project, fact.kind),
    event: {
      specversion: "1.0",
      id: world.random.uuid(),
      source: `/millrace/projects/${fact.project}`,
      type: `millrace.signal.${fact.kind}`,
      subject: fact.subject,
      time: new Date(world.clock.now()).toISOString(),
      datacontenttype: "application/json",
      data: { project: fact.project, ...fact.data },
    },
  };
}
