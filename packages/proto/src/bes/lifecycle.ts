import { google } from "../gen/bes.js";
import type { Malformed } from "../wire/field-scanner.ts";
import type { StreamIdentity } from "./identity.ts";

const { PublishLifecycleEventRequest } = google.devtools.build.v1;

/** Which of Bazel's four lifecycle calls this is; `other` for what no known client sends. */
export type LifecycleKind =
  | "build-enqueued"
  | "attempt-started"
  | "attempt-finished"
  | "build-finished"
  | "other";

/** A `PublishLifecycleEventRequest`, fully decoded: there are four per build. */
export interface LifecycleEvent {
  readonly kind: LifecycleKind;
  readonly streamId: StreamIdentity;
  readonly sequence: number;
  /** Value of --bes_instance_name, often empty. */
  readonly projectId: string;
  readonly keywords: readonly string[];
  /** Milliseconds since the epoch. */
  readonly eventTimeMs?: number;
  /** With `attempt-started`. */
  readonly attemptNumber?: number;
  /** With the two finished ones: the number of BuildStatus.Result; 1 succeeded, 2 failed, 0 unknown. */
  readonly result?: number;
}

/** Reads a lifecycle call. Never throws. */
export function readLifecycle(request: Uint8Array): LifecycleEvent | Malformed {
  try {
    return describe(PublishLifecycleEventRequest.decode(request));
  } catch (error) {
    return { kind: "malformed", offset: 0, reason: error instanceof Error ? error.message : String(error) };
  }
}

type Request = google.devtools.build.v1.PublishLifecycleEventRequest;
type Event = google.devtools.build.v1.BuildEvent.$Properties;

function describe(request: Request): LifecycleEvent {
  const ordered = request.buildEvent;
  const event = ordered?.event ?? {};
  const time = event.eventTime;
  return {
    ...describeContent(event),
    streamId: {
      buildId: ordered?.streamId?.buildId ?? "",
      invocationId: ordered?.streamId?.invocationId ?? "",
      component: ordered?.streamId?.component ?? 0,
    },
    sequence: ordered?.sequenceNumber ?? 0,
    projectId: request.projectId,
    keywords: request.notificationKeywords ?? [],
    ...(time ? { eventTimeMs: (time.seconds ?? 0) * 1000 + Math.floor((time.nanos ?? 0) / 1e6) } : {}),
  };
}

function describeContent(event: Event): Pick<LifecycleEvent, "kind" | "attemptNumber" | "result"> {
  if (event.buildEnqueued) return { kind: "build-enqueued" };
  if (event.invocationAttemptStarted) {
    return { kind: "attempt-started", attemptNumber: event.invocationAttemptStarted.attemptNumber ?? 0 };
  }
  if (event.invocationAttemptFinished) {
    const status = event.invocationAttemptFinished.invocationStatus;
    return { kind: "attempt-finished", result: status?.result ?? 0 };
  }
  if (event.buildFinished) return { kind: "build-finished", result: event.buildFinished.status?.result ?? 0 };
  return { kind: "other" };
}
