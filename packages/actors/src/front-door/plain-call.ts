import { frameAck } from "@millrace/proto/bes/ack";
import { apiKeyOf, type BidirectionalCall, endCall, sendHeaders } from "./grpc-call.ts";
import type { AckRange, CallEnding, StreamCall, StreamCallSink } from "./stream-call.ts";

const grpcPrefixBytes = 5;

/**
 * A call through nothing but the public interface of the library: what is used when its inside has changed.
 * Slower, and its bounds are coarser: the library itself holds up to 16 messages of a paused stream.
 */
export class PlainCall implements StreamCall {
  readonly apiKey: string | undefined;
  readonly peer: string;
  readonly partialBytes = 0;
  private readonly call: BidirectionalCall;
  private readonly sink: StreamCallSink;
  private readonly waiting: Buffer[] = [];
  private isPaused = true;
  private isDelivering = false;
  private hasHalfClosed = false;
  private isEnded = false;

  constructor(call: BidirectionalCall, sink: StreamCallSink) {
    this.call = call;
    this.sink = sink;
    this.apiKey = apiKeyOf(call.metadata);
    this.peer = call.getPeer();
    sendHeaders(call);
    call.on("data", (message: Buffer) => {
      if (this.isEnded) return;
      this.waiting.push(message);
      this.deliver();
    });
    call.on("end", () => {
      this.hasHalfClosed = true;
      this.deliver();
    });
    call.on("drain", () => {
      if (!this.isEnded) sink.drained();
    });
    call.once("cancelled", () => {
      if (this.isEnded) return;
      this.isEnded = true;
      sink.broken();
    });
    call.pause();
  }

  pause(): void {
    this.isPaused = true;
    this.call.pause();
  }

  resume(): void {
    this.isPaused = false;
    this.deliver();
    if (!this.isPaused) this.call.resume();
  }

  write(acks: AckRange): boolean {
    if (this.isEnded) return true;
    let isRead = true;
    for (let sequence = acks.from; sequence <= acks.to; sequence += 1) {
      isRead = this.call.write(frameAck(acks.streamId, sequence).subarray(grpcPrefixBytes));
    }
    return isRead;
  }

  end({ status, message, acks }: CallEnding): void {
    if (this.isEnded) return;
    for (const range of acks) this.write(range);
    this.isEnded = true;
    this.waiting.length = 0;
    endCall(this.call, { status, message });
    this.call.resume();
  }

  private deliver(): void {
    if (this.isDelivering) return;
    this.isDelivering = true;
    while (!this.isPaused && !this.isEnded) {
      const next = this.waiting[0];
      if (next === undefined) break;
      if (!this.sink.admit(next.length)) {
        this.pause();
        break;
      }
      this.waiting.shift();
      this.sink.message(next);
    }
    this.isDelivering = false;
    if (!this.hasHalfClosed || this.isEnded || this.waiting.length > 0) return;
    this.hasHalfClosed = false;
    this.sink.halfClosed();
  }
}
