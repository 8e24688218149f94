import net from "node:net";
import { type CallStatus, type StreamEvents, statusCode } from "./bes-channel.ts";
import { HeaderAssembly } from "./header-assembly.ts";
import {
  ConnectionFault,
  contentOf,
  errorCode,
  type Frame,
  FrameReader,
  frameBytesMax,
  frameFlag,
  frameHeadBytes,
  frameType,
  goAway,
  headersFrames,
  pingAck,
  preface,
  receiveWindowBytes,
  settingId,
  settingsAck,
  windowAtFirst,
  windowUpdate,
} from "./http2-frames.ts";
import { Http2Stream, type StreamOwner } from "./http2-stream.ts";
import { WriteBuffer } from "./write-buffer.ts";

const flushBytesMax = 256 * 1024;
const windowMax = 2 ** 31 - 1;
const nothing = Buffer.alloc(0);

// All sockets read into it: what a read brings is used up before the next read of any of them.
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);
const writeBuffer = new WriteBuffer();

/** The client's end of one HTTP/2 connection (RFC 9113), with as much of it as gRPC needs. */
export class Http2Connection implements StreamOwner {
  private readonly socket: net.Socket;
  private readonly reader = new FrameReader();
  private readonly headers = new HeaderAssembly();
  private readonly streams = new Map<number, Http2Stream>();
  private frames: Uint8Array[] = [preface];
  private nextStreamId = 1;
  private flushIsDue = false;
  private isClosed = false;
  private isGoingAway = false;
  private sendWindow = windowAtFirst;
  /** The server's SETTINGS_INITIAL_WINDOW_SIZE. */
  private streamWindow = windowAtFirst;
  private received = 0;
  private failure = "the connection was closed";

  constructor(at: { host: string; port: number }) {
    this.socket = net.connect({
      ...at,
      noDelay: true,
      onread: { buffer: readBuffer, callback: (bytes) => this.receive(bytes) },
    });
    this.socket.on("error", (error) => {
      this.failure = error.message;
    });
    this.socket.on("close", () => this.closed({ code: statusCode.unavailable, message: this.failure }));
    this.socket.on("drain", () => this.flush());
  }

  /** New calls may go over it. */
  get isOpen(): boolean {
    return !this.isClosed && !this.isGoingAway;
  }

  get writingBytes(): number {
    return this.socket.writableLength;
  }

  open(headerBlock: Uint8Array, events: StreamEvents): Http2Stream {
    const id = this.nextStreamId;
    this.nextStreamId += 2;
    const stream = new Http2Stream({ id, sendWindow: this.streamWindow, owner: this, events });
    this.streams.set(id, stream);
    this.control(headersFrames(id, headerBlock));
    return stream;
  }

  control(frame: Uint8Array): void {
    this.frames.push(frame);
    this.flushSoon();
  }

  flushSoon(): void {
    if (this.flushIsDue || this.isClosed) return;
    this.flushIsDue = true;
    setImmediate(() => this.flush());
  }

  forget(streamId: number): void {
    this.streams.delete(streamId);
    if (this.isGoingAway && this.streams.size === 0) this.flushSoon();
  }

  /** Breaks the connection with a TCP reset. */
  cut(): void {
    this.socket.resetAndDestroy();
  }

  close(): void {
    this.closed({ code: statusCode.cancelled, message: "the client closed the connection" });
    this.socket.destroy();
  }

  private closed(status: CallStatus): void {
    this.isClosed = true;
    for (const stream of [...this.streams.values()]) stream.fail(status);
  }

  /** Writes all frames that wait and that windows allow, in one write. */
  private flush(): void {
    this.flushIsDue = false;
    if (this.isClosed || this.socket.writableNeedDrain) return;
    if (this.writeFrames() === 0) this.flushSoon();
    for (const stream of this.streams.values()) {
      if (stream.afterFlush()) this.socket.write(nothing, () => stream.afterWrite());
    }
    if (this.isGoingAway && this.streams.size === 0) this.socket.destroySoon();
  }

  /** Answers how much of a flush's bytes was not used. */
  private writeFrames(): number {
    const controlBytes = this.frames.reduce((sum, frame) => sum + frame.length, 0);
    const frameCountMax = Math.ceil(flushBytesMax / frameBytesMax) + this.streams.size;
    const out = writeBuffer.room(controlBytes + flushBytesMax + frameCountMax * frameHeadBytes);
    let at = 0;
    for (const frame of this.frames) {
      out.set(frame, at);
      at += frame.length;
    }
    this.frames = [];
    let left = flushBytesMax;
    for (const stream of this.streams.values()) {
      const contentBytes = stream.sendable(Math.min(left, this.sendWindow));
      if (contentBytes === undefined) continue;
      at = stream.putFrames(out, { at, contentBytes });
      left -= contentBytes;
      this.sendWindow -= contentBytes;
    }
    if (at > 0) writeBuffer.write(this.socket, at);
    return left;
  }

  private receive(bytes: number): boolean {
    try {
      this.reader.push(readBuffer.subarray(0, bytes), (frame) => this.receiveFrame(frame));
    } catch (error) {
      const fault = error instanceof Error ? error : new Error(String(error));
      const code = fault instanceof ConnectionFault ? fault.code : errorCode.protocol;
      this.socket.end(goAway(code));
      this.closed({ code: statusCode.internal, message: fault.message });
      this.socket.destroySoon();
    }
    return true;
  }

  private receiveFrame(frame: Frame): void {
    const { type, streamId, payload } = frame;
    if (this.isClosed) return;
    this.headers.checkOrder(frame);
    switch (type) {
      case frameType.data:
        return this.receiveData(frame);
      case frameType.headers:
      case frameType.continuation:
        return this.receiveHeaders(frame);
      case frameType.resetStream:
        return this.streams.get(streamId)?.receiveReset(payload.readUInt32BE(0));
      case frameType.settings:
        return this.receiveSettings(frame);
      case frameType.ping:
        if ((frame.flags & frameFlag.ack) === 0) this.control(pingAck(payload));
        return;
      case frameType.goAway:
        return this.receiveGoAway(payload);
      case frameType.windowUpdate:
        return this.receiveWindowUpdate(frame);
      case frameType.pushPromise:
        throw new ConnectionFault(errorCode.protocol, "a push was promised");
    }
  }

  private receiveData(frame: Frame): void {
    const frameBytes = frame.payload.length;
    this.received += frameBytes;
    if (this.received >= receiveWindowBytes / 2) {
      this.control(windowUpdate(0, this.received));
      this.received = 0;
    }
    const endsStream = (frame.flags & frameFlag.endStream) !== 0;
    this.streams.get(frame.streamId)?.receiveData(contentOf(frame), { frameBytes, endsStream });
  }

  private receiveHeaders(frame: Frame): void {
    const block = this.headers.push(frame);
    if (block !== undefined) this.streams.get(block.streamId)?.receiveHeaders(block.bytes, block.endsStream);
  }

  private receiveSettings({ flags, payload }: Frame): void {
    if ((flags & frameFlag.ack) !== 0) return;
    for (let at = 0; at + 6 <= payload.length; at += 6) {
      if (payload.readUInt16BE(at) !== settingId.initialWindowSize) continue;
      const size = payload.readUInt32BE(at + 2);
      for (const stream of this.streams.values()) stream.sendWindow += size - this.streamWindow;
      this.streamWindow = size;
    }
    this.control(settingsAck);
  }

  private receiveWindowUpdate({ streamId, payload }: Frame): void {
    const bytes = payload.readUInt32BE(0) & windowMax;
    if (streamId === 0) this.sendWindow += bytes;
    const stream = this.streams.get(streamId);
    if (stream !== undefined) stream.sendWindow += bytes;
    if (this.sendWindow > windowMax || (stream?.sendWindow ?? 0) > windowMax) {
      throw new ConnectionFault(errorCode.flowControl, "a window is too large");
    }
    this.flushSoon();
  }

  private receiveGoAway(payload: Buffer): void {
    this.isGoingAway = true;
    const lastId = payload.readUInt32BE(0) & windowMax;
    const code = payload.readUInt32BE(4);
    for (const [id, stream] of [...this.streams]) {
      if (id > lastId) stream.fail({ code: statusCode.unavailable, message: `GOAWAY with code ${code}` });
    }
    if (this.streams.size === 0) this.flushSoon();
  }
}
