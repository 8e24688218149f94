/** Frame types of RFC 9113 §6 that this client knows; others are passed over. */
export const frameType = {
  data: 0,
  headers: 1,
  resetStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const frameFlag = { ack: 0x1, endStream: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

export const settingId = {
  headerTableSize: 1,
  enablePush: 2,
  initialWindowSize: 4,
  maxFrameSize: 5,
} as const;
const maxHeaderListSizeId = 6;

export const errorCode = { none: 0, protocol: 1, flowControl: 3, frameSize: 6, cancel: 8 } as const;

/** What a peer may send, and what we send: the protocol's least, which is also what Bazel's client announces. */
export const frameBytesMax = 16_384;
export const frameHeadBytes = 9;
export const windowAtFirst = 65_535;
/** Both windows of Bazel's client. */
export const receiveWindowBytes = 1 << 20;

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  /** A view that is valid only until the next frame. */
  readonly payload: Buffer;
}

/** A mistake of the peer that ends the connection. */
export class ConnectionFault extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Cuts what arrives into frames. Bytes of an unfinished frame are copied: the caller may use its buffer again. */
export class FrameReader {
  private rest: Buffer | undefined;

  /** Throws a ConnectionFault when a frame is longer than was announced. */
  push(chunk: Buffer, onFrame: (frame: Frame) => void): void {
    const bytes = this.rest === undefined ? chunk : Buffer.concat([this.rest, chunk]);
    this.rest = undefined;
    let at = 0;
    while (bytes.length - at >= frameHeadBytes) {
      const length = bytes.readUIntBE(at, 3);
      if (length > frameBytesMax)
        throw new ConnectionFault(errorCode.frameSize, `a frame of ${length} bytes`);
      const from = at + frameHeadBytes;
      if (from + length > bytes.length) break;
      const streamId = bytes.readUInt32BE(at + 5) & 0x7fff_ffff;
      const type = bytes[at + 3] ?? 0;
      const flags = bytes[at + 4] ?? 0;
      at = from + length;
      onFrame({ type, flags, streamId, payload: bytes.subarray(from, at) });
    }
    if (at < bytes.length) this.rest = Buffer.from(bytes.subarray(at));
  }
}

/** The content of a DATA or HEADERS frame without padding and priority. */
export function contentOf({ type, flags, payload }: Frame): Buffer {
  let from = 0;
  let to = payload.length;
  if ((flags & frameFlag.padded) !== 0) {
    from = 1;
    to -= payload[0] ?? 0;
  }
  if (type === frameType.headers && (flags & frameFlag.priority) !== 0) from += 5;
  if (to < from) throw new ConnectionFault(errorCode.protocol, "a frame is all padding");
  return from === 0 && to === payload.length ? payload : payload.subarray(from, to);
}

/** Writes a frame's head at `at`; its payload of `length` bytes is to follow. */
export function writeFrameHead(
  into: Buffer,
  of: { at: number; type: number; flags: number; streamId: number; length: number },
): void {
  const { at, type, flags, streamId, length } = of;
  into[at] = length >>> 16;
  into[at + 1] = length >>> 8;
  into[at + 2] = length;
  into[at + 3] = type;
  into[at + 4] = flags;
  into.writeUInt32BE(streamId, at + 5);
}

function frame(type: number, streamId: number, of: { flags?: number; payload: Uint8Array }): Buffer {
  const { flags = 0, payload } = of;
  const bytes = Buffer.allocUnsafe(frameHeadBytes + payload.length);
  writeFrameHead(bytes, { at: 0, type, flags, streamId, length: payload.length });
  bytes.set(payload, frameHeadBytes);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function settingsFrame(settings: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(settings.length * 6);
  for (const [nth, [id, value]] of settings.entries()) {
    payload.writeUInt16BE(id, nth * 6);
    payload.writeUInt32BE(value, nth * 6 + 2);
  }
  return frame(frameType.settings, 0, { payload });
}

export function windowUpdate(streamId: number, bytes: number): Buffer {
  return frame(frameType.windowUpdate, streamId, { payload: uint32(bytes) });
}

export function resetStream(streamId: number, code: number): Buffer {
  return frame(frameType.resetStream, streamId, { payload: uint32(code) });
}

export function pingAck(payload: Uint8Array): Buffer {
  return frame(frameType.ping, 0, { flags: frameFlag.ack, payload });
}

export function goAway(code: number): Buffer {
  return frame(frameType.goAway, 0, { payload: Buffer.concat([uint32(0), uint32(code)]) });
}

/** A header block, in as many frames as it takes. */
export function headersFrames(streamId: number, block: Uint8Array): Buffer {
  const frames: Buffer[] = [];
  for (let from = 0; from === 0 || from < block.length; from += frameBytesMax) {
    const payload = block.subarray(from, from + frameBytesMax);
    const flags = from + frameBytesMax >= block.length ? frameFlag.endHeaders : 0;
    frames.push(frame(from === 0 ? frameType.headers : frameType.continuation, streamId, { flags, payload }));
  }
  return frames.length === 1 && frames[0] !== undefined ? frames[0] : Buffer.concat(frames);
}

export const settingsAck = frame(frameType.settings, 0, { flags: frameFlag.ack, payload: Buffer.alloc(0) });

/** What a connection begins with: as Bazel's, but that the server is to index nothing. */
export const preface = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1"),
  settingsFrame([
    [settingId.headerTableSize, 0],
    [settingId.enablePush, 0],
    [settingId.initialWindowSize, receiveWindowBytes],
    [settingId.maxFrameSize, frameBytesMax],
    [maxHeaderListSizeId, 8192],
  ]),
  windowUpdate(0, receiveWindowBytes - windowAtFirst),
]);
