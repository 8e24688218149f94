import { google } from "@millrace/proto/gen/bes";
import protobuf from "protobufjs/minimal.js";
import type { StreamNames } from "./requests.ts";

const { PublishBuildToolEventStreamRequest, StreamId } = google.devtools.build.v1;

const toolComponent = 3;
const typeUrl = "type.googleapis.com/build_event_stream.BuildEvent";
const nothing = Buffer.alloc(0);
const int32Max = 2 ** 31 - 1;

// Tags of publish_build_event.proto, any.proto and timestamp.proto: field number × 8 + wire type.
const orderedEventTag = 0x22;
const streamIdTag = 0x0a;
const sequenceTag = 0x10;
const eventTag = 0x1a;
const eventTimeTag = 0x0a;
const secondsTag = 0x08;
const nanosTag = 0x10;
const bazelEventTag = 0x1e2;
const typeUrlTag = 0x0a;
const valueTag = 0x12;

/**
 * Encodes BEP payloads as requests of one stream, with one copy of the payload: a load generator does this for every
 * event, and a writer that grows and nests costs as much as the server under test spends on the event.
 */
export class EventEncoder {
  private readonly streamIdField: Uint8Array;
  private readonly typeUrlField: Uint8Array;
  private readonly firstTail: Uint8Array;
  private readonly tail: Uint8Array;
  private out: Buffer = nothing;
  private at = 0;

  constructor({ buildId, invocationId, projectId, keywords }: StreamNames) {
    const streamId = StreamId.encode({ buildId, component: toolComponent, invocationId }).finish();
    this.streamIdField = bytesField(streamIdTag, streamId);
    this.typeUrlField = bytesField(typeUrlTag, Buffer.from(typeUrl));
    this.tail = PublishBuildToolEventStreamRequest.encode({ projectId }).finish();
    const first = { projectId, notificationKeywords: [...keywords] };
    this.firstTail = PublishBuildToolEventStreamRequest.encode(first).finish();
  }

  encode(of: { payload: Uint8Array; sequence: number; nowMs: number }): Buffer {
    const tail = this.head({ ...of, payloadBytes: of.payload.length, roomFor: of.payload.length });
    this.bytes(of.payload);
    return this.finish(tail);
  }

  /** What goes before and behind a payload of that length: for payloads too large to be copied. */
  around(of: { payloadBytes: number; sequence: number; nowMs: number }): {
    head: Uint8Array;
    tail: Uint8Array;
  } {
    const tail = this.head({ ...of, roomFor: 0 });
    const headBytes = this.at;
    const both = this.finish(tail);
    return { head: both.subarray(0, headBytes), tail: both.subarray(headBytes) };
  }

  /** Begins a request, up to where its payload begins; answers what goes behind the payload. */
  private head(of: { payloadBytes: number; sequence: number; nowMs: number; roomFor: number }): Uint8Array {
    const { payloadBytes, sequence, nowMs, roomFor } = of;
    const seconds = Math.floor(nowMs / 1000);
    const nanos = Math.floor(nowMs - seconds * 1000) * 1_000_000;
    const tail = sequence === 1 ? this.firstTail : this.tail;
    const timeLength = 1 + varintLength(seconds) + 1 + varintLength(nanos);
    const anyLength = this.typeUrlField.length + lengthOf(1, payloadBytes);
    const eventLength = lengthOf(1, timeLength) + lengthOf(2, anyLength);
    const orderedLength = this.streamIdField.length + 1 + varintLength(sequence) + lengthOf(1, eventLength);
    this.out = Buffer.allocUnsafe(lengthOf(1, orderedLength) + tail.length - payloadBytes + roomFor);
    this.at = 0;
    this.pair(orderedEventTag, orderedLength);
    this.bytes(this.streamIdField);
    this.pair(sequenceTag, sequence);
    this.pair(eventTag, eventLength);
    this.pair(eventTimeTag, timeLength);
    this.pair(secondsTag, seconds);
    this.pair(nanosTag, nanos);
    this.pair(bazelEventTag, anyLength);
    this.bytes(this.typeUrlField);
    this.pair(valueTag, payloadBytes);
    return tail;
  }

  private finish(tail: Uint8Array): Buffer {
    this.bytes(tail);
    const { out } = this;
    this.out = nothing;
    return out;
  }

  private bytes(bytes: Uint8Array): void {
    this.out.set(bytes, this.at);
    this.at += bytes.length;
  }

  /** A tag and a varint: a number, or the length of what follows. */
  private pair(tag: number, value: number): void {
    this.varint(tag);
    this.varint(value);
  }

  private varint(value: number): void {
    let rest = value;
    for (; rest > int32Max; rest = Math.floor(rest / 128)) this.out[this.at++] = (rest % 128) | 128;
    for (; rest >= 128; rest >>>= 7) this.out[this.at++] = rest | 128;
    this.out[this.at++] = rest;
  }
}

function bytesField(tag: number, bytes: Uint8Array): Uint8Array {
  return protobuf.Writer.create().uint32(tag).bytes(bytes).finish();
}

/** Length of a length-delimited field: its tag, its length, its content. */
function lengthOf(tagLength: number, contentLength: number): number {
  return tagLength + varintLength(contentLength) + contentLength;
}

function varintLength(value: number): number {
  let length = 1;
  for (let least = 128; value >= least; least *= 128) length += 1;
  return length;
}
