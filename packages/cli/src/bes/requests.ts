import { encodeLength } from "@millrace/proto/bep/frames";
import { google } from "@millrace/proto/gen/bes";

const { PublishLifecycleEventRequest, StreamId, BuildStatus } = google.devtools.build.v1;

/** Under which names a stream is sent. */
export interface StreamNames {
  readonly buildId: string;
  readonly invocationId: string;
  /** Value of --bes_instance_name, often empty. */
  readonly projectId: string;
}

// google/devtools/build/v1/publish_build_event.proto
const orderedEventField = 4;
const keywordsField = 5;
const projectIdField = 6;
const streamIdField = 1;
const sequenceTag = 0x10;
const eventField = 3;
// google/devtools/build/v1/build_events.proto, google/protobuf/any.proto
const eventTimeField = 1;
const streamFinishedField = 59;
const bazelEventField = 60;
const typeUrlField = 1;
const valueField = 2;

const bepType = Buffer.from("type.googleapis.com/build_event_stream.BuildEvent");
const component = { controller: 1, tool: 3 } as const;

/**
 * One request of the event stream. The bytes of the event stay as they are: an encoder would write what it does not
 * know in another order.
 */
export function encodeEventRequest(of: {
  readonly names: StreamNames;
  readonly sequence: number;
  /** A google.devtools.build.v1.BuildEvent. */
  readonly event: Uint8Array;
  /** Bazel sends them with number 1 only. */
  readonly keywords: readonly string[];
}): Buffer {
  const { buildId, invocationId, projectId } = of.names;
  const streamId = StreamId.encode({ buildId, invocationId, component: component.tool }).finish();
  const ordered = [
    ...delimited(streamIdField, [streamId]),
    Buffer.from([sequenceTag]),
    encodeLength(of.sequence),
    ...delimited(eventField, [of.event]),
  ];
  return Buffer.concat([
    ...delimited(orderedEventField, ordered),
    ...of.keywords.flatMap((keyword) => delimited(keywordsField, [Buffer.from(keyword)])),
    ...(projectId === "" ? [] : delimited(projectIdField, [Buffer.from(projectId)])),
  ]);
}

/** A BEP payload as the event that Bazel would send. `atMs` is in milliseconds since the epoch. */
export function wrapBepEvent(payload: Uint8Array, atMs: number): Buffer {
  const any = [...delimited(typeUrlField, [bepType]), ...delimited(valueField, [payload])];
  return Buffer.concat([...delimited(eventTimeField, [timestamp(atMs)]), ...delimited(bazelEventField, any)]);
}

/** The event with which a stream ends. */
export function finishedEvent(atMs: number): Buffer {
  const finished = Buffer.from([0x08, 0x01]); // type: FINISHED
  return Buffer.concat([
    ...delimited(eventTimeField, [timestamp(atMs)]),
    ...delimited(streamFinishedField, [finished]),
  ]);
}

/** Bazel's four calls around a stream. */
export type LifecycleStep = "build-enqueued" | "attempt-started" | "attempt-finished" | "build-finished";

/** How a build ended, as the two last calls say it. */
export type BuildResult = "succeeded" | "failed" | "unknown";

export function encodeLifecycle(of: {
  readonly step: LifecycleStep;
  readonly names: StreamNames;
  readonly keywords: readonly string[];
  readonly result: BuildResult;
  readonly atMs: number;
}): Buffer {
  const { buildId, invocationId, projectId } = of.names;
  const ofBuild = of.step === "build-enqueued" || of.step === "build-finished";
  const request = PublishLifecycleEventRequest.encode({
    serviceLevel: PublishLifecycleEventRequest.ServiceLevel.INTERACTIVE,
    buildEvent: {
      streamId: {
        buildId,
        component: component.controller,
        ...(!ofBuild && { invocationId }),
      },
      sequenceNumber: of.step === "build-enqueued" || of.step === "attempt-started" ? 1 : 2,
      event: { eventTime: secondsAndNanos(of.atMs), ...lifecycleContent(of.step, of.result) },
    },
    notificationKeywords: of.step === "attempt-finished" ? [] : [...of.keywords],
    projectId,
  });
  return Buffer.from(request.finish());
}

function lifecycleContent(step: LifecycleStep, result: BuildResult) {
  const status = { result: resultNumbers[result] };
  switch (step) {
    case "build-enqueued":
      return { buildEnqueued: {} };
    case "attempt-started":
      return { invocationAttemptStarted: { attemptNumber: 1 } };
    case "attempt-finished":
      return { invocationAttemptFinished: { invocationStatus: status } };
    case "build-finished":
      return { buildFinished: { status } };
  }
}

const resultNumbers = {
  succeeded: BuildStatus.Result.COMMAND_SUCCEEDED,
  failed: BuildStatus.Result.COMMAND_FAILED,
  unknown: BuildStatus.Result.UNKNOWN_STATUS,
};

function timestamp(atMs: number): Uint8Array {
  return google.protobuf.Timestamp.encode(secondsAndNanos(atMs)).finish();
}

function secondsAndNanos(atMs: number): { seconds: number; nanos: number } {
  const seconds = Math.floor(atMs / 1000);
  return { seconds, nanos: Math.round((atMs - seconds * 1000) * 1_000_000) };
}

/** A length-delimited field; pieces are joined without a copy in between. */
function delimited(field: number, pieces: readonly Uint8Array[]): Uint8Array[] {
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  // The tag of a field above 15 has two bytes, like a length.
  return [encodeLength(field * 8 + 2), encodeLength(bytes), ...pieces];
}
