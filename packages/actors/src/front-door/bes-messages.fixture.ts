import { google } from "@millrace/proto/gen/bes";

const { BuildEvent, PublishBuildToolEventStreamRequest, PublishBuildToolEventStreamResponse, StreamId } =
  google.devtools.build.v1;

/** Who sends an event, and which one. */
export interface RequestParts {
  readonly invocationId?: string;
  readonly buildId?: string;
  readonly sequence: number;
  readonly payloadBytes?: number;
  readonly typeUrl?: string;
  readonly isLast?: boolean;
}

const bepType = "type.googleapis.com/build_event_stream.BuildEvent";

/** The bytes of a PublishBuildToolEventStreamRequest as Bazel sends it. */
export function request(parts: RequestParts): Buffer {
  return Buffer.concat(lengthDelimited(4, orderedEvent(parts)));
}

/** The request with its gRPC prefix: one copy of a large payload, no more. */
export function framedRequest(parts: RequestParts): Buffer {
  const pieces = lengthDelimited(4, orderedEvent(parts));
  return Buffer.concat([prefixOf(totalOf(pieces), 0), ...pieces]);
}

// By hand, because the encoder takes seconds for a payload of 97 MB.
function orderedEvent(parts: RequestParts): Buffer[] {
  const { invocationId = "inv-1", buildId = "build-1", typeUrl = bepType, payloadBytes = 20 } = parts;
  const payload = Buffer.alloc(payloadBytes, parts.sequence & 127);
  const content = parts.isLast
    ? lengthDelimited(59, [Buffer.from([8, 1])])
    : lengthDelimited(60, [
        ...lengthDelimited(1, [Buffer.from(typeUrl)]),
        ...(payloadBytes === 0 ? [] : lengthDelimited(2, [payload])),
      ]);
  const time = BuildEvent.encode({ eventTime: { seconds: 1_700_000_000, nanos: 5 } }).finish();
  const streamId = StreamId.encode({ buildId, invocationId, component: 3 }).finish();
  return [
    ...lengthDelimited(1, [Buffer.from(streamId)]),
    ...(parts.sequence === 0 ? [] : [Buffer.from([0x10]), varint(BigInt(parts.sequence))]),
    ...lengthDelimited(3, [Buffer.from(time), ...content]),
  ];
}

function lengthDelimited(field: number, pieces: readonly Buffer[]): Buffer[] {
  return [varint(BigInt(field * 8 + 2)), varint(BigInt(totalOf(pieces))), ...pieces];
}

function totalOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
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
  return Buffer.from(BuildEvent.encode(event).finish());
}

/** The sequence number that a response acknowledges. */
export function ackOf(bytes: Uint8Array): number {
  return PublishBuildToolEventStreamResponse.decode(bytes).sequenceNumber;
}

/** A message with the gRPC prefix. */
export function framed(message: Uint8Array, flag = 0): Buffer {
  return Buffer.concat([prefixOf(message.length, flag), message]);
}

function prefixOf(length: number, flag: number): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  prefix.writeUInt32BE(length, 1);
  return prefix;
}
