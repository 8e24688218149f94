import { google } from "@millrace/proto/gen/bes";

const { PublishBuildToolEventStreamRequest, PublishBuildToolEventStreamResponse } = google.devtools.build.v1;

/** Who sends an event, and which one. */
export interface RequestParts {
  readonly invocationId?: string;
  readonly buildId?: string;
  readonly sequence: number;
  /** Bytes of the payload; above a few KB the request is built without the encoder. */
  readonly payloadBytes?: number;
  readonly typeUrl?: string;
  readonly isLast?: boolean;
}

const bepType = "type.googleapis.com/build_event_stream.BuildEvent";

/** The bytes of a PublishBuildToolEventStreamRequest as Bazel sends it. */
export function request(parts: RequestParts): Buffer {
  const { invocationId = "inv-1", buildId = "build-1", typeUrl = bepType, payloadBytes = 20 } = parts;
  const event = parts.isLast
    ? { componentStreamFinished: { type: 1 } }
    : { bazelEvent: { type_url: typeUrl, value: new Uint8Array(payloadBytes).fill(parts.sequence & 127) } };
  return Buffer.from(
    PublishBuildToolEventStreamRequest.encode({
      orderedBuildEvent: {
        streamId: { buildId, invocationId, component: 3 },
        sequenceNumber: parts.sequence,
        event: { eventTime: { seconds: 1_700_000_000, nanos: 5 }, ...event },
      },
    }).finish(),
  );
}

/** `count` requests, the last of which ends the stream. */
export function build(count: number, parts: Partial<RequestParts> = {}): Buffer[] {
  return Array.from({ length: count }, (_, at) =>
    request({ ...parts, sequence: at + 1, isLast: at + 1 === count }),
  );
}

/** The bytes of the BuildEvent inside a request. */
export function eventOf(bytes: Uint8Array): Buffer {
  const decoded = PublishBuildToolEventStreamRequest.decode(bytes);
  const event = decoded.orderedBuildEvent?.event ?? {};
  return Buffer.from(google.devtools.build.v1.BuildEvent.encode(event).finish());
}

/** The sequence number that a response acknowledges. */
export function ackOf(bytes: Uint8Array): number {
  return PublishBuildToolEventStreamResponse.decode(bytes).sequenceNumber;
}

/** A message with the gRPC prefix. */
export function framed(message: Uint8Array, flag = 0): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
