import net from "node:net";
import { type CallStatus, type StreamEvents, statusCode } from "./bes-channel.ts";
import {
  ConnectionFault,
  contentOf,
  errorCode,
  type Frame,
  FrameReader,
  frameFlag,
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

const flushBytesMax = 256 * 1024;
const windowMax = 2 ** 31 - 1;
const nothing = Buffer.alloc(0);

// All sockets read into it: what a read brings is used up before the next read of any of them.
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);

/** The client's end of one HTTP/2 connection (RFC 9113), with as much of it as gRPC needs. */
export class Http2Connection implements StreamOwner {
  private readonly socket: net.Socket;
  private readonly reader = new FrameReader();
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
  /** A header block that goes on in CONTINUATION frames. */
  private unfinished: { streamId: number; endsStream: boolean; parts: Buffer[] } | undefined;
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
    const parts = this.frames;
    this.frames = [];
    let room = flushBytesMax;
    for (const stream of this.streams.values()) {
      const taken = stream.takeFrames(Math.min(room, this.sendWindow));
      if (taken === undefined) continue;
      parts.push(taken.frames);
      room -= taken.contentBytes;
      this.sendWindow -= taken.contentBytes;
    }
    const [first] = parts;
    if (first !== undefined) this.socket.write(parts.length === 1 ? first : Buffer.concat(parts));
    if (room === 0) this.flushSoon();
    for (const stream of this.streams.values()) {
      if (stream.afterFlush()) this.socket.write(nothing, () => stream.afterWrite());
    }
    if (this.isGoingAway && this.streams.size === 0) this.socket.destroySoon();
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
    if (this.unfinished !== undefined && type !== frameType.continuation) {
      throw new ConnectionFault(errorCode.protocol, "a header block is interrupted");
    }
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
    const { streamId, flags } = frame;
    const block = this.unfinished ?? {
      streamId,
      endsStream: (flags & frameFlag.endStream) !== 0,
      parts: [],
    };
    if (
      (frame.type === frameType.headers) !== (this.unfinished === undefined) ||
      block.streamId !== streamId
    ) {
      throw new ConnectionFault(errorCode.protocol, "a CONTINUATION frame is out of place");
    }
    const content = contentOf(frame);
    this.unfinished = undefined;
    if ((flags & frameFlag.endHeaders) === 0) {
      block.parts.push(Buffer.from(content));
      this.unfinished = block;
      return;
    }
    const whole = block.parts.length === 0 ? content : Buffer.concat([...block.parts, content]);
    this.streams.get(streamId)?.receiveHeaders(whole, block.endsStream);
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
