import type { Clock } from "@millrace/base/clock";
import { google } from "@millrace/proto/gen/bes";
import { decodeEvent, decodeRequest, encodeRequest } from "../decode.ts";
import { EventEncoder } from "./event-encoder.ts";
import type { RequestSource } from "./upload-queue.ts";

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

/** What Bazel itself says about every build. */
export const usualKeywords: readonly string[] = ["command_name=build", "protocol_name=BEP"];

/** Where event times come from: the clock, or the event's number after a start, so that the bytes can be made again. */
export type EventTimes = { readonly clock: Clock } | { readonly startMs: number };

/** Requests for BEP payloads, and the end of the stream behind them. */
export function requestsOfPayloads(
  payloads: Iterable<Uint8Array>,
  world: { names: StreamNames } & EventTimes,
): RequestSource {
  return new PayloadSource(payloads, world);
}

class PayloadSource implements RequestSource {
  private readonly names: StreamNames;
  private readonly encoder: EventEncoder;
  private readonly times: EventTimes;
  private readonly payloads: Iterator<Uint8Array>;
  private ahead: IteratorResult<Uint8Array>;
  isDone = false;

  constructor(payloads: Iterable<Uint8Array>, { names, ...times }: { names: StreamNames } & EventTimes) {
    this.names = names;
    this.times = times;
    this.encoder = new EventEncoder(names);
    this.payloads = payloads[Symbol.iterator]();
    this.ahead = this.payloads.next();
  }

  next(sequence: number): Uint8Array {
    const { times } = this;
    const nowMs = "startMs" in times ? times.startMs + sequence : times.clock.now();
    if (this.ahead.done === true) {
      this.isDone = true;
      return endOfStream(this.names, { sequence, nowMs });
    }
    const request = this.encoder.encode({ payload: this.ahead.value, sequence, nowMs });
    this.ahead = this.payloads.next();
    return request;
  }
}

function endOfStream(names: StreamNames, at: { sequence: number; nowMs: number }): Uint8Array {
  const { buildId, invocationId, projectId } = names;
  const event = google.devtools.build.v1.BuildEvent.encode({
    eventTime: timestamp(at.nowMs),
    componentStreamFinished: { type: 1 },
  }).finish();
  return encodeRequest({ sequence: at.sequence, buildId, invocationId, projectId, keywords: [], event });
}

/** Recorded requests under other names; events and numbers stay as they are. */
export function requestsOfRecording(
  requests: Iterable<Uint8Array>,
  names: Omit<StreamNames, "keywords">,
): RequestSource {
  const { buildId, invocationId, projectId } = names;
  const source = requests[Symbol.iterator]();
  let ahead = source.next();
  return {
    get isDone() {
      return ahead.done === true;
    },
    next: (sequence) => {
      if (ahead.done === true) throw new Error(`the recording has no event ${sequence}`);
      const recorded = decodeRequest(ahead.value);
      if (recorded.sequence !== sequence) {
        throw new Error(`the recording has number ${recorded.sequence} where ${sequence} is due`);
      }
      ahead = source.next();
      return encodeRequest({ ...recorded, buildId, invocationId, projectId });
    },
  };
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
