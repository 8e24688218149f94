import type { PeekedRequest } from "@millrace/proto/bes/peek";
import type { EventsMessage } from "../thread-messages.ts";
import { type EventKind, eventKind, type LargeEventMessage, metaStride } from "../thread-messages.ts";

/** What a peeked request's content is called in the arena. */
export function kindOf(request: PeekedRequest): EventKind {
  if (request.holds === "bazel") return eventKind.bazel;
  return request.holds === "stream-finished" ? eventKind.streamFinished : eventKind.other;
}

/**
 * Collects the events of a tick for one thread and packs them into one exactly sized buffer that can be
 * transferred: small Buffers share their memory with others and must not be.
 */
export class Arena {
  private readonly requests: PeekedRequest[] = [];
  private readonly meta: number[] = [];
  private total = 0;

  /** Bytes of the events collected. */
  get bytes(): number {
    return this.total;
  }

  get isEmpty(): boolean {
    return this.requests.length === 0;
  }

  add(connection: number, request: PeekedRequest): void {
    const length = request.eventEnd - request.eventStart;
    this.requests.push(request);
    this.meta.push(connection, request.sequence, length, kindOf(request));
    this.total += length;
  }

  /** The message with all that was collected; the arena is empty afterwards. */
  pack(): EventsMessage {
    const arena = new ArrayBuffer(this.total);
    const target = new Uint8Array(arena);
    let at = 0;
    for (const { bytes, eventStart, eventEnd } of this.requests) {
      target.set(bytes.subarray(eventStart, eventEnd), at);
      at += eventEnd - eventStart;
    }
    const message: EventsMessage = { kind: "events", arena, meta: Float64Array.from(this.meta) };
    this.requests.length = 0;
    this.meta.length = 0;
    this.total = 0;
    return message;
  }
}

/** How many events `message` carries. */
export function eventCount(message: EventsMessage): number {
  return message.meta.length / metaStride;
}

// What a library may have left around a message that it made a buffer for: the gRPC prefix.
const slackBytesMax = 5;

/**
 * A large event as its own message. Its buffer can be transferred: when the request's is not the request's alone,
 * the event is copied.
 */
export function largeEvent(connection: number, request: PeekedRequest): LargeEventMessage {
  const { bytes, eventStart, eventEnd } = request;
  const isOwn = bytes.buffer.byteLength - bytes.byteLength <= slackBytesMax;
  const event = bytes.subarray(eventStart, eventEnd);
  return {
    kind: "large",
    connection,
    sequence: request.sequence,
    event: kindOf(request),
    // A plain Uint8Array: of a Buffer only that is left after it has travelled.
    bytes: isOwn ? new Uint8Array(event.buffer, event.byteOffset, event.byteLength) : new Uint8Array(event),
  };
}
