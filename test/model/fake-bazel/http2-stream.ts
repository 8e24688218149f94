import { type BesStream, type CallStatus, type StreamEvents, statusCode } from "./bes-channel.ts";
import { GrpcUnframer } from "./grpc-frames.ts";
import { HeaderBlockReader } from "./hpack.ts";
import {
  errorCode,
  frameBytesMax,
  frameFlag,
  frameHeadBytes,
  frameType,
  receiveWindowBytes,
  resetStream,
  windowUpdate,
  writeFrameHead,
} from "./http2-frames.ts";
import { MessageQueue } from "./message-queue.ts";

const bufferedBytesMax = 256 * 1024;
const roomAgainBytes = bufferedBytesMax / 2;

/** What a stream asks of its connection. */
export interface StreamOwner {
  /** Bytes that were handed to the socket and wait there. */
  readonly writingBytes: number;
  /** Sends a frame with the next flush. */
  control(frame: Uint8Array): void;
  /** Sends what waits at the end of this turn of the event loop. */
  flushSoon(): void;
  /** The stream is over. */
  forget(streamId: number): void;
}

/** One gRPC call over one HTTP/2 stream, our end of it. */
export class Http2Stream implements BesStream {
  readonly id: number;
  /** What the server lets us send; below 0 after it has shrunk its windows. */
  sendWindow: number;
  private readonly owner: StreamOwner;
  private readonly events: StreamEvents;
  private readonly queue = new MessageQueue();
  private readonly unframer = new GrpcUnframer();
  private status: CallStatus | undefined;
  private received = 0;
  private isOver = false;
  private endIsDue = false;
  private endIsSent = false;
  private roomAgain: (() => void)[] = [];
  private written: (() => void)[] = [];

  constructor(of: { id: number; sendWindow: number; owner: StreamOwner; events: StreamEvents }) {
    this.id = of.id;
    this.sendWindow = of.sendWindow;
    this.owner = of.owner;
    this.events = of.events;
  }

  write(request: Uint8Array): boolean {
    if (this.isOver || this.endIsDue) return true;
    this.queue.push(request);
    this.owner.flushSoon();
    return this.queue.bytes + this.owner.writingBytes < bufferedBytesMax;
  }

  drained(): Promise<void> {
    if (this.isOver) return Promise.resolve();
    this.owner.flushSoon();
    return new Promise((resolve) => this.roomAgain.push(resolve));
  }

  flushed(): Promise<void> {
    if (this.isOver) return Promise.resolve();
    this.owner.flushSoon();
    return new Promise((resolve) => this.written.push(resolve));
  }

  halfClose(): void {
    this.endIsDue = true;
    this.owner.flushSoon();
  }

  cancel(): void {
    if (this.isOver) return;
    this.owner.control(resetStream(this.id, errorCode.cancel));
    this.leave();
  }

  /** The stream has ended for a reason outside it. */
  fail(status: CallStatus): void {
    if (this.isOver) return;
    this.leave();
    this.events.onEnd(status);
  }

  /** How many bytes of content may be sent now, at most `bytesMax`; undefined when there is no frame to send. */
  sendable(bytesMax: number): number | undefined {
    const contentBytes = Math.max(0, Math.min(this.queue.bytes, this.sendWindow, bytesMax));
    return contentBytes > 0 || this.endsWith(contentBytes) ? contentBytes : undefined;
  }

  /** Writes DATA frames with `contentBytes` of content, which `sendable` has allowed; answers where they end. */
  putFrames(into: Buffer, { at, contentBytes }: { at: number; contentBytes: number }): number {
    const ends = this.endsWith(contentBytes);
    this.sendWindow -= contentBytes;
    this.endIsSent = ends;
    let to = at;
    let left = contentBytes;
    do {
      const length = Math.min(left, frameBytesMax);
      left -= length;
      const flags = ends && left === 0 ? frameFlag.endStream : 0;
      writeFrameHead(into, { at: to, type: frameType.data, flags, streamId: this.id, length });
      this.queue.take(into, { at: to + frameHeadBytes, count: length });
      to += frameHeadBytes + length;
    } while (left > 0);
    return to;
  }

  /** To be asked after each flush: whoever waits for room goes on; answers whether somebody waits for the last write. */
  afterFlush(): boolean {
    if (this.roomAgain.length > 0 && this.queue.bytes + this.owner.writingBytes <= roomAgainBytes) {
      wake(this.roomAgain);
    }
    return this.written.length > 0 && this.queue.bytes === 0;
  }

  /** All that was flushed has gone to the operating system. */
  afterWrite(): void {
    if (this.queue.bytes === 0) wake(this.written);
  }

  receiveHeaders(block: Buffer, endsStream: boolean): void {
    const fields = new HeaderBlockReader(block);
    let code: string | undefined;
    let message = "";
    while (fields.next()) {
      if (fields.name === "grpc-status") code = fields.value();
      else if (fields.name === "grpc-message") message = fields.value();
    }
    if (code !== undefined) this.status = { code: Number(code), message: percentDecoded(message) };
    if (endsStream) this.receiveEnd();
  }

  receiveData(content: Buffer, of: { frameBytes: number; endsStream: boolean }): void {
    this.received += of.frameBytes;
    if (this.received >= receiveWindowBytes / 2 && !of.endsStream) {
      this.owner.control(windowUpdate(this.id, this.received));
      this.received = 0;
    }
    for (const message of this.unframer.push(content)) {
      if (this.isOver) return;
      this.events.onMessage(message);
    }
    if (of.endsStream && !this.isOver) this.receiveEnd();
  }

  receiveReset(code: number): void {
    this.fail(this.status ?? { code: codeOfReset(code), message: `the stream was reset with code ${code}` });
  }

  private endsWith(contentBytes: number): boolean {
    return this.endIsDue && !this.endIsSent && contentBytes === this.queue.bytes;
  }

  private receiveEnd(): void {
    // A server may answer before our side has ended; then the stream would stay half open.
    if (!this.endIsSent) this.owner.control(resetStream(this.id, errorCode.none));
    this.fail(
      this.status ?? {
        code: statusCode.unavailable,
        message: "the server ended the stream without a status",
      },
    );
  }

  private leave(): void {
    this.isOver = true;
    this.owner.forget(this.id);
    wake(this.roomAgain);
    wake(this.written);
  }
}

function wake(waiting: (() => void)[]): void {
  for (const resolve of waiting.splice(0)) resolve();
}

function codeOfReset(reset: number): number {
  if (reset === errorCode.cancel) return statusCode.cancelled;
  if (reset === errorCode.protocol) return statusCode.internal;
  return statusCode.unavailable;
}

function percentDecoded(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
