import type { Clock } from "@millrace/base/clock";
import { MillraceError } from "@millrace/base/errors";
import type { Log } from "@millrace/base/log";
import type { Random } from "@millrace/base/random";
import type { ValidationRequest } from "../entities.ts";
import type { SignalFailPoints } from "../failpoints.ts";
import type { QueueDirectory } from "../queue-directory.ts";
import type { StageMetrics } from "../stage-metrics.ts";
import type { SignalStore } from "../store.ts";
import type { Payload } from "../topics.ts";

/** What a stage works with. */
export interface StageContext {
  readonly store: SignalStore;
  readonly queues: QueueDirectory;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: StageMetrics;
  readonly points: SignalFailPoints;
  /** The stage's name in the request log. */
  readonly who: string;
}

/** One message in a stage's hands. */
export interface StageMessage {
  readonly payload: Payload;
  /** Holds in a row since the last fresh one. */
  readonly holds: number;
  readonly signal: AbortSignal;
}

/** A failure that stays one: the message is given up, the reconciler fails its request. */
export function reject(code: string, message: string): MillraceError {
  return new MillraceError({ remedy: "reject", code, message });
}

/** Somebody else changed the entity meanwhile: the one failure that stages themselves call retryable. */
export function versionMismatch(id: string): MillraceError {
  return new MillraceError({
    remedy: "retry",
    code: "version-mismatch",
    message: `${id} was changed by somebody else`,
  });
}

/** The message's request. What is not there will not be there later either: writes come before messages. */
export async function loadRequest(
  context: StageContext,
  { payload }: StageMessage,
): Promise<ValidationRequest> {
  const request = await context.store.request(payload.id);
  if (request === undefined) throw reject("not-found", `there is no request ${payload.id}`);
  checkQueue(payload, request);
  return request;
}

export function checkQueue(payload: Payload, request: ValidationRequest): void {
  if (payload.queue === "" || payload.queue === request.queue) return;
  throw reject("wrong-queue", `${request.id} belongs to ${request.queue}, not to ${payload.queue}`);
}
