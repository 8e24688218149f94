import type { Clock } from "@millrace/base/clock";
import type { Random } from "@millrace/base/random";
import { type InvocationFact, invocationFactSubject } from "@millrace/proto/channels";
import type { AttemptSummary, OutboxRow } from "./store.ts";

/**
 * A fact about an attempt as a CloudEvent (https://cloudevents.io, 1.0.2, structured JSON). Delivery is at least
 * once: consumers tell repeats by `id` and order by `data.attempt` and `data.lastEventSeq`.
 */
export function invocationFact(
  fact: InvocationFact,
  about: AttemptSummary,
  world: { clock: Clock; random: Random },
): OutboxRow {
  const { project, invocationId } = about.key;
  return {
    project,
    subject: invocationFactSubject(project, fact),
    event: {
      specversion: "1.0",
      id: world.random.uuid(),
      source: `/millrace/projects/${project}`,
      type: `millrace.invocation.${fact}`,
      subject: invocationId,
      time: new Date(world.clock.now()).toISOString(),
      datacontenttype: "application/json",
      data: {
        project,
        invocationId,
        attempt: about.attempt,
        lastEventSeq: about.lastEventSeq,
        buildId: about.buildId,
        status: about.status,
        command: about.command,
        exitCode: about.exitCode,
        exitCodeName: about.exitCodeName,
        startedAt: isoTime(about.startedAtMs),
        finishedAt: isoTime(about.finishedAtMs),
      },
    },
  };
}

function isoTime(milliseconds: number | null): string | null {
  if (milliseconds === null) return null;
  const time = new Date(milliseconds);
  // A tool may send any number as a time.
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}
