/** One message of a varint-delimited sequence, and where it began in the source (at its length). */
export interface Frame {
  readonly kind: "frame";
  readonly bytes: Uint8Array;
  readonly offset: number;
}

/** Why a sequence cannot be read further. `offset` is where the broken frame begins in the source. */
export interface BrokenFrame {
  readonly kind: "broken";
  readonly fault: "truncated" | "too long" | "bad length";
  readonly offset: number;
  /** A sentence for the user, with the offset in it. */
  readonly message: string;
}

// A length has at most 32 bits.
const lengthBytesMax = 5;

/**
 * Splits chunks of any size into messages (`--build_event_binary_file`, execution logs). After a broken frame nothing more
 * comes out. A message that lies within one chunk is a view of it; others are copied once.
 */
export class FrameSplitter {
  private readonly messageBytesMax: number;
  private broken: BrokenFrame | undefined = undefined;
  /** Bytes of the source consumed so far. */
  private consumed = 0;
  private frameOffset = 0;
  private length = 0;
  private lengthBytes = 0;
  private lengthIsRead = false;
  private parts: Uint8Array[] = [];
  private gathered = 0;

  constructor(limits: { messageBytesMax: number }) {
    this.messageBytesMax = limits.messageBytesMax;
  }

  /** The messages that `chunk` completes; at a fault, the fault as the last one. */
  *push(chunk: Uint8Array): Generator<Frame | BrokenFrame> {
    let at = 0;
    while (this.broken === undefined && (at < chunk.length || this.isComplete())) {
      if (!this.lengthIsRead) {
        this.readLengthByte(chunk[at++] as number);
        this.consumed += 1;
        if (this.broken !== undefined) yield this.broken;
        continue;
      }
      const taken = Math.min(this.length - this.gathered, chunk.length - at);
      if (taken > 0) this.parts.push(chunk.subarray(at, at + taken));
      this.gathered += taken;
      this.consumed += taken;
      at += taken;
      if (this.isComplete()) yield this.takeFrame();
    }
  }

  /** Call when the source has ended. A fault unless it ended between two messages. */
  end(): BrokenFrame | undefined {
    if (this.broken !== undefined || (this.lengthBytes === 0 && !this.lengthIsRead)) return undefined;
    const missing = this.lengthIsRead
      ? `${this.length - this.gathered} of ${this.length} bytes are missing`
      : "";
    return this.breakAt("truncated", `ends in the middle of a message${missing && `: ${missing}`}`);
  }

  private isComplete(): boolean {
    return this.lengthIsRead && this.gathered === this.length;
  }

  private readLengthByte(byte: number): void {
    if (this.lengthBytes === 0) this.frameOffset = this.consumed;
    this.length += (byte & 127) * 128 ** this.lengthBytes;
    this.lengthBytes += 1;
    if (byte < 128) {
      this.lengthIsRead = true;
      if (this.length > this.messageBytesMax) {
        this.breakAt("too long", `announces ${this.length} bytes, more than ${this.messageBytesMax}`);
      }
    } else if (this.lengthBytes === lengthBytesMax) {
      this.breakAt("bad length", "does not begin with a length: this is not a varint-delimited file");
    }
  }

  private takeFrame(): Frame {
    const [first] = this.parts;
    const bytes =
      this.parts.length === 1 && first !== undefined ? first : Buffer.concat(this.parts, this.length);
    this.parts = [];
    this.gathered = 0;
    this.length = 0;
    this.lengthBytes = 0;
    this.lengthIsRead = false;
    return { kind: "frame", bytes, offset: this.frameOffset };
  }

  private breakAt(fault: BrokenFrame["fault"], what: string): BrokenFrame {
    this.parts = [];
    this.broken = {
      kind: "broken",
      fault,
      offset: this.frameOffset,
      message: `The message at byte ${this.frameOffset} ${what}.`,
    };
    return this.broken;
  }
}

/** Reads all messages of a source; a fault is the last thing that comes. Errors of the source itself are thrown on. */
export async function* readFrames(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  limits: { messageBytesMax: number },
): AsyncGenerator<Frame | BrokenFrame> {
  const splitter = new FrameSplitter(limits);
  for await (const chunk of source) {
    for (const frame of splitter.push(chunk)) {
      yield frame;
      if (frame.kind === "broken") return;
    }
  }
  const broken = splitter.end();
  if (broken !== undefined) yield broken;
}

/** A message with its length in front, as `readFrames` reads it. */
export function frameMessage(message: Uint8Array): Buffer {
  const length = encodeLength(message.length);
  const frame = Buffer.allocUnsafe(length.length + message.length);
  frame.set(length, 0);
  frame.set(message, length.length);
  return frame;
}

/** The length in front of a message of `bytes` bytes, for writers that send the message itself without a copy. */
export function encodeLength(bytes: number): Uint8Array {
  const out: number[] = [];
  let rest = bytes;
  while (rest >= 128) {
    out.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  out.push(rest);
  return Uint8Array.from(out);
}
