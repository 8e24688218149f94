import type { z } from "@hono/zod-openapi";
import type { signalBuilds } from "@millrace/db/schema/signal-builds";
import type { LetterRow } from "../queries/signal-letters.ts";
import type { findQueueConfig, QueueRow, RequestRow, requestHistory } from "../queries/signals.ts";
import { timeText } from "./names.ts";
import type {
  signalBuildSchema,
  signalConfigurationSchema,
  signalHistorySchema,
  signalLetterSchema,
  signalQueueSchema,
  signalRequestSchema,
} from "./signals.ts";

export function presentQueue(row: QueueRow, openLetters: number): z.infer<typeof signalQueueSchema> {
  const { queue, config, gate } = row;
  const said = configFacts(config?.config);
  return {
    name: row.name,
    project: queue?.projectId ?? config?.projectId ?? "",
    origin: config?.origin ?? null,
    ...said,
    slots: (queue?.slots ?? []).map(({ owner, claimedAtMs, expiresAtMs }) => ({
      requestId: owner,
      number: numberOf(owner),
      claimedAt: new Date(claimedAtMs).toISOString(),
      expiresAt: new Date(expiresAtMs).toISOString(),
    })),
    waiting: row.waiting,
    inProgress: row.inProgress,
    openLetters,
    latestRequestId: queue?.latestRequestId || null,
    lastGreenUri: queue?.lastGreenUri || null,
    lastGreenRequestId: queue?.lastGreenRequestId || null,
    nextAdmissionAt: timeText(queue?.nextAdmissionAt ?? null),
    stopped: gate === null ? null : { since: gate.closedAt.toISOString(), reason: gate.reason },
  };
}

type ConfigFacts = Pick<z.infer<typeof signalQueueSchema>, "runner" | "maxConcurrent" | "maxValidationMs">;

/** What everybody may know of a configuration; the rest is for those who administer. Defaults are the controller's. */
function configFacts(config: unknown): ConfigFacts {
  if (typeof config !== "object" || config === null) {
    return { runner: null, maxConcurrent: null, maxValidationMs: null };
  }
  const { runner, max_concurrent, max_validation_ms } = config as Record<string, unknown>;
  const kind = typeof runner === "object" && runner !== null && "kind" in runner ? runner.kind : null;
  return {
    runner: typeof kind === "string" ? kind : null,
    maxConcurrent: typeof max_concurrent === "number" ? max_concurrent : null,
    maxValidationMs: typeof max_validation_ms === "number" ? max_validation_ms : null,
  };
}

/** The number at the end of a request's id. */
function numberOf(requestId: string): number | null {
  const number = Number(requestId.slice(requestId.lastIndexOf("/") + 1));
  return Number.isSafeInteger(number) ? number : null;
}

export function presentRequest(row: RequestRow): z.infer<typeof signalRequestSchema> {
  const { request, build, degree } = row;
  return {
    id: request.id,
    queue: request.queue,
    number: request.number,
    uri: request.uri,
    strategy: request.strategy,
    baseUri: request.baseUri || null,
    state: request.state,
    reason: request.reason,
    verdict: degree === null ? null : degree === 0 ? "green" : "broken",
    createdAt: request.createdAt.toISOString(),
    endedAt: row.endedAt === null ? null : new Date(row.endedAt).toISOString(),
    build: build === null ? null : presentBuild(build),
  };
}

function presentBuild(build: typeof signalBuilds.$inferSelect): z.infer<typeof signalBuildSchema> {
  return {
    id: build.id,
    status: build.status,
    reason: build.reason,
    providerState: build.providerState || null,
    url: build.url || null,
    invocationId: build.metadata["invocationId"] ?? null,
    createdAt: build.createdAt.toISOString(),
    deadlineAt: build.deadlineAt.toISOString(),
  };
}

export function presentHistory(
  row: RequestRow,
  history: Awaited<ReturnType<typeof requestHistory>>,
): z.infer<typeof signalHistorySchema> {
  return {
    ...presentRequest(row),
    metadata: { ...row.request.metadata },
    builds: history.builds.map(presentBuild),
    log: history.log.map(({ at, who, fromState, toState, reason, buildId }) => ({
      at: at.toISOString(),
      who,
      from: fromState,
      to: toState,
      reason,
      buildId,
    })),
  };
}

export function presentLetter({ letter, queue }: LetterRow): z.infer<typeof signalLetterSchema> {
  return {
    id: letter.id,
    stage: letter.topic,
    queue: queue || null,
    messageId: letter.messageId,
    key: letter.partitionKey,
    state: letter.state,
    occurrences: letter.occurrences,
    attempts: letter.failures,
    firstReason: letter.firstReason,
    lastReason: letter.lastReason,
    firstFailedAt: letter.firstFailedAt.toISOString(),
    lastFailedAt: letter.lastFailedAt.toISOString(),
    settledAt: timeText(letter.settledAt),
  };
}

export function presentConfiguration(
  row: NonNullable<Awaited<ReturnType<typeof findQueueConfig>>>,
): z.infer<typeof signalConfigurationSchema> {
  return {
    queue: row.name,
    origin: row.origin,
    version: row.version,
    updatedAt: row.updatedAt.toISOString(),
    configuration: row.config as Record<string, unknown>,
  };
}
