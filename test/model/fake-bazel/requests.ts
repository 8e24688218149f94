import type { Clock } from "@millrace/base/clock";
import { google } from "@millrace/proto/gen/bes";
import protobuf from "protobufjs/minimal.js";
import { decodeEvent, decodeRequest, encodeRequest } from "../decode.ts";
import type { MakeRequest } from "./upload-queue.ts";

const { PublishLifecycleEventRequest, StreamId } = google.devtools.build.v1;

/** Whose stream it is, and what its first request says besides. */
export interface StreamNames {
  readonly buildId: string;
  readonly invocationId: string;
  /** --bes_instance_name; "" for none. */
  readonly projectId: string;
  readonly keywords: readonly string[];
}

const toolComponent = 3;
const controllerComponent = 1;
const typeUrlField = protobuf.Writer.create()
  .uint32(0x0a)
  .string("type.googleapis.com/build_event_stream.BuildEvent")
  .finish();

/** Requests for BEP payloads, and the end of the stream behind them. */
export function* requestsOfPayloads(
  payloads: Iterable<Uint8Array>,
  world: { names: StreamNames; clock: Clock },
): Generator<MakeRequest> {
  const { names, clock } = world;
  const fixed = fixedParts(names);
  for (const payload of payloads) {
    yield (sequence) => encodeBazelEvent({ payload, sequence, nowMs: clock.now(), fixed });
  }
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

interface FixedParts {
  readonly streamIdField: Uint8Array;
  /** Fields behind the event: of the first request, and of the others. */
  readonly firstTail: Uint8Array;
  readonly tail: Uint8Array;
}

function fixedParts({ buildId, invocationId, projectId, keywords }: StreamNames): FixedParts {
  const streamId = StreamId.encode({ buildId, component: toolComponent, invocationId }).finish();
  const tail = protobuf.Writer.create();
  if (projectId !== "") tail.uint32(0x32).string(projectId);
  const firstTail = protobuf.Writer.create();
  for (const keyword of keywords) firstTail.uint32(0x2a).string(keyword);
  const tailBytes = tail.finish();
  return {
    streamIdField: protobuf.Writer.create().uint32(0x0a).bytes(streamId).finish(),
    firstTail: Buffer.concat([firstTail.finish(), tailBytes]),
    tail: tailBytes,
  };
}

/** By hand, because a load generator does it for every event: see publish_build_event.proto for the tags. */
function encodeBazelEvent(of: {
  payload: Uint8Array;
  sequence: number;
  nowMs: number;
  fixed: FixedParts;
}): Uint8Array {
  const { payload, sequence, nowMs, fixed } = of;
  const { seconds, nanos } = timestamp(nowMs);
  const writer = protobuf.Writer.create().uint32(0x22).fork();
  writer.raw(fixed.streamIdField).uint32(0x10).int64(sequence).uint32(0x1a).fork();
  writer.uint32(0x0a).fork().uint32(0x08).int64(seconds).uint32(0x10).int32(nanos).ldelim();
  writer.uint32(0x1e2).fork().raw(typeUrlField).uint32(0x12).bytes(payload).ldelim();
  return writer
    .ldelim()
    .ldelim()
    .raw(sequence === 1 ? fixed.firstTail : fixed.tail)
    .finish();
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
