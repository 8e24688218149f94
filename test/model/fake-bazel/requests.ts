import type { Clock } from "@millrace/base/clock";
import { google } from "@millrace/proto/gen/bes";
import { decodeEvent, decodeRequest, encodeRequest } from "../decode.ts";
import { EventEncoder } from "./event-encoder.ts";
import type { MakeRequest } from "./upload-queue.ts";

const { PublishLifecycleEventRequest } = google.devtools.build.v1;

/** Whose stream it is, and what its first request says besides. */
export interface StreamNames {
  readonly buildId: string;
  readonly invocationId: string;
  /** --bes_instance_name; "" for none. */
  readonly projectId: string;
  readonly keywords: readonly string[];
}

const controllerComponent = 1;
/** Requests for BEP payloads, and the end of the stream behind them. */
export function* requestsOfPayloads(
  payloads: Iterable<Uint8Array>,
  world: { names: StreamNames; clock: Clock },
): Generator<MakeRequest> {
  const { names, clock } = world;
  const encoder = new EventEncoder(names);
  for (const payload of payloads)
    yield (sequence) => encoder.encode({ payload, sequence, nowMs: clock.now() });
  yield (sequence) => {
    const { buildId, invocationId, projectId } = names;
    const event = google.devtools.build.v1.BuildEvent.encode({
      eventTime: timestamp(clock.now()),
      componentStreamFinished: { type: 1 },
    }).finish();
    return encodeRequest({ sequence, buildId, invocationId, projectId, keywords: [], event });
  };
}

/** Recorded requests under other names; events and numbers stay as they are. */
export function* requestsOfRecording(
  requests: Iterable<Uint8Array>,
  names: Omit<StreamNames, "keywords">,
): Generator<MakeRequest> {
  const { buildId, invocationId, projectId } = names;
  for (const request of requests) {
    const recorded = decodeRequest(request);
    yield (sequence) => {
      if (recorded.sequence !== sequence) {
        throw new Error(`the recording has number ${recorded.sequence} where ${sequence} is due`);
      }
      return encodeRequest({ ...recorded, buildId, invocationId, projectId });
    };
  }
}

/** Whether a recording ends as a healthy stream does. */
export function endsStream(requests: readonly Uint8Array[]): boolean {
  const last = requests.at(-1);
  return last !== undefined && decodeEvent(decodeRequest(last).event).kind === "stream-finished";
}

/** The four lifecycle calls, in Bazel's order. */
export type LifecycleStep = "build-enqueued" | "attempt-started" | "attempt-finished" | "build-finished";

/** BuildStatus.Result: 0 unknown, 1 succeeded, 2 failed. */
export function encodeLifecycle(
  step: LifecycleStep,
  of: { names: StreamNames; nowMs: number; result: number },
): Uint8Array {
  const { names, nowMs, result } = of;
  const isOfBuild = step.startsWith("build");
  const content = {
    "build-enqueued": { buildEnqueued: {} },
    "attempt-started": { invocationAttemptStarted: { attemptNumber: 1 } },
    "attempt-finished": { invocationAttemptFinished: { invocationStatus: { result } } },
    "build-finished": { buildFinished: { status: { result } } },
  }[step];
  return PublishLifecycleEventRequest.encode({
    serviceLevel: 1,
    buildEvent: {
      streamId: {
        buildId: names.buildId,
        component: controllerComponent,
        ...(isOfBuild ? {} : { invocationId: names.invocationId }),
      },
      sequenceNumber: step === "build-enqueued" || step === "attempt-started" ? 1 : 2,
      event: { eventTime: timestamp(nowMs), ...content },
    },
    projectId: names.projectId,
    // Bazel 7.7.1 sends them with all but this one.
    notificationKeywords: step === "attempt-finished" ? [] : [...names.keywords],
  }).finish();
}

function timestamp(ms: number): { seconds: number; nanos: number } {
  const seconds = Math.floor(ms / 1000);
  return { seconds, nanos: Math.floor(ms - seconds * 1000) * 1_000_000 };
}
