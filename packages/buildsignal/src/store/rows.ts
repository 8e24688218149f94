import type { signalBuilds } from "@millrace/db/schema/signal-builds";
import type { signalFacts } from "@millrace/db/schema/signal-facts";
import type { signalQueues } from "@millrace/db/schema/signal-queues";
import type { signalRequests } from "@millrace/db/schema/signal-requests";
import type { Build, SignalQueue, ValidationFact, ValidationRequest } from "../entities.ts";

/** Entities as rows and back: milliseconds are instants, the project and the first admission have other names. */
export function queueRow(queue: SignalQueue): typeof signalQueues.$inferInsert {
  const { project, nextAdmissionAtMs, ...rest } = queue;
  return {
    ...rest,
    projectId: project,
    nextAdmissionAt: nextAdmissionAtMs === 0 ? null : new Date(nextAdmissionAtMs),
  };
}

export function queueOf(row: typeof signalQueues.$inferSelect): SignalQueue {
  const { projectId, nextAdmissionAt, ...rest } = row;
  return { ...rest, project: projectId, nextAdmissionAtMs: nextAdmissionAt?.getTime() ?? 0 };
}

export function requestRow(request: ValidationRequest): typeof signalRequests.$inferInsert {
  const { createdAtMs, ...rest } = request;
  return { ...rest, createdAt: new Date(createdAtMs) };
}

export function requestOf(row: typeof signalRequests.$inferSelect): ValidationRequest {
  const { createdAt, ...rest } = row;
  return { ...rest, createdAtMs: createdAt.getTime() };
}

export function buildRow(build: Build): typeof signalBuilds.$inferInsert {
  const { createdAtMs, deadlineAtMs, ...rest } = build;
  return { ...rest, createdAt: new Date(createdAtMs), deadlineAt: new Date(deadlineAtMs) };
}

export function buildOf(row: typeof signalBuilds.$inferSelect): Build {
  const { createdAt, deadlineAt, ...rest } = row;
  return { ...rest, createdAtMs: createdAt.getTime(), deadlineAtMs: deadlineAt.getTime() };
}

export function factRow(fact: ValidationFact): typeof signalFacts.$inferInsert {
  const { createdAtMs, ...rest } = fact;
  return { ...rest, createdAt: new Date(createdAtMs) };
}

export function factOf(row: typeof signalFacts.$inferSelect): ValidationFact {
  const { createdAt, degree, ...rest } = row;
  return { ...rest, degree: degree === 0 ? 0 : 1, createdAtMs: createdAt.getTime() };
}
