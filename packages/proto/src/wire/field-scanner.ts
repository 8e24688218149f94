/** Bytes that are not a protobuf message: where, and what was expected there. A value, never thrown. */
export interface Malformed {
  readonly kind: "malformed";
  /** Offset into the scanned array. */
  readonly offset: number;
  readonly reason: string;
}

/** Tells a fault from what a reader returns otherwise. */
export function isMalformed(value: object): value is Malformed {
  return "kind" in value && value.kind === "malformed";
}

const wireVarint = 0;
const wireFixed64 = 1;
export const wireBytes = 2;
const wireGroupStart = 3;
const wireGroupEnd = 4;
const wireFixed32 = 5;

// protobufjs and the reference implementations stop at the same depth.
const groupDepthMax = 100;

const nothing = new Uint8Array(0);

/**
 * Walks the fields of one message in a range of bytes, without decoding, copying or throwing, never reading outside the
 * range. After `next()` was true, `field` and `wireType` name the field and its value is `from`..`to` (length-delimited
 * and fixed) or `int64`/`int32`/`bool` (varint). When `next()` is false, `reason` tells a fault from the end.
 * A field whose wire type is not the expected one must be passed over, as every decoder does: use `isBytes`, `isVarint`.
 * Repeated scalars: the last one wins. Repeated sub-messages merge when the reader goes on with the same variables.
 */
export class FieldScanner {
  field = 0;
  wireType = 0;
  from = 0;
  to = 0;
  /** Where the tag of the field at hand begins: `bytes[start, to)` is the field as it was sent, if it has a range. */
  start = 0;
  /** What is wrong at `pos`; empty while nothing is. */
  reason = "";
  bytes: Uint8Array = nothing;
  private pos = 0;
  private end = 0;
  private low = 0;
  private high = 0;
  private parent: FieldScanner | undefined = undefined;

  /** Starts over on `bytes[from, to)`. One scanner serves many messages. */
  reset(bytes: Uint8Array, from: number, to: number): this {
    this.bytes = bytes;
    this.pos = from;
    this.end = to;
    this.reason = "";
    this.parent = undefined;
    return this;
  }

  /** A scanner of the sub-message at hand. A fault in it is a fault of this one too, so asking the outermost is enough. */
  child(): FieldScanner {
    const child = new FieldScanner().reset(this.bytes, this.from, this.to);
    child.parent = this;
    return child;
  }

  /** Lets go of the bytes, so that a scanner kept for reuse does not keep them alive. */
  release(): void {
    this.bytes = nothing;
    this.pos = 0;
    this.end = 0;
  }

  /** The fault as a value, or undefined when the message ended where it should. */
  get malformed(): Malformed | undefined {
    if (this.reason === "") return undefined;
    return { kind: "malformed", offset: this.pos, reason: this.reason };
  }

  /** Moves to the next field. False at the end and at a fault. */
  next(): boolean {
    this.start = this.pos;
    if (this.pos >= this.end || this.reason !== "" || !this.readTag()) return false;
    switch (this.wireType) {
      case wireVarint:
        return this.readVarint();
      case wireBytes:
        return this.readRange();
      case wireFixed64:
        return this.take(8);
      case wireFixed32:
        return this.take(4);
      case wireGroupStart:
        return this.skipGroup();
      default:
        return this.fail("unknown wire type");
    }
  }

  isBytes(field: number): boolean {
    return this.field === field && this.wireType === wireBytes;
  }

  isVarint(field: number): boolean {
    return this.field === field && this.wireType === wireVarint;
  }

  /** The varint as a signed 64-bit value; exact to ±2^53. */
  get int64(): number {
    return (this.high | 0) * 4_294_967_296 + this.low;
  }

  /** The varint as a signed 32-bit value or an enum: its low 32 bits, as the specification says. */
  get int32(): number {
    return this.low | 0;
  }

  get bool(): boolean {
    return this.low !== 0 || this.high !== 0;
  }

  /** The bytes at hand as UTF-8; what is not UTF-8 becomes U+FFFD, because a row holds text and a build is never refused
   *  for its content. */
  get text(): string {
    return this.from === this.to ? "" : bufferOf(this.bytes).toString("utf8", this.from, this.to);
  }

  private fail(reason: string): false {
    this.reason = reason;
    for (let outer = this.parent; outer !== undefined; outer = outer.parent) {
      outer.reason = reason;
      outer.pos = this.pos;
    }
    return false;
  }

  private take(length: number): boolean {
    this.from = this.pos;
    this.to = this.pos + length;
    if (this.to > this.end) return this.fail("value reaches beyond the end");
    this.pos = this.to;
    return true;
  }

  /** A tag has at most 32 bits in five bytes and never field number 0. */
  private readTag(): boolean {
    let tag = this.bytes[this.pos] as number;
    let length = 1;
    if (tag >= 128) {
      tag &= 127;
      for (let shift = 7; ; shift += 7) {
        if (this.pos + length >= this.end) return this.fail("tag is cut off");
        const byte = this.bytes[this.pos + length++] as number;
        if (shift === 28 && byte > 15) return this.fail("tag has more than 32 bits");
        tag = (tag | ((byte & 127) << shift)) >>> 0;
        if (byte < 128) break;
      }
    }
    this.field = tag >>> 3;
    this.wireType = tag & 7;
    if (this.field === 0) return this.fail("field number 0");
    this.pos += length;
    return true;
  }

  private readRange(): boolean {
    if (this.pos >= this.end) return this.fail("length is cut off");
    let length = this.bytes[this.pos] as number;
    let used = 1;
    if (length >= 128) {
      length &= 127;
      for (let shift = 7; ; shift += 7) {
        if (this.pos + used >= this.end) return this.fail("length is cut off");
        const byte = this.bytes[this.pos + used++] as number;
        if (shift === 28 && byte > 7) return this.fail("length has more than 31 bits");
        length |= (byte & 127) << shift;
        if (byte < 128) break;
      }
    }
    if (length > this.end - this.pos - used) return this.fail("value reaches beyond the end");
    this.from = this.pos + used;
    this.to = this.from + length;
    this.pos = this.to;
    return true;
  }

  private readVarint(): boolean {
    const first = this.bytes[this.pos] as number;
    if (this.pos < this.end && first < 128) {
      this.low = first;
      this.high = 0;
      this.pos += 1;
      return true;
    }
    let low = 0;
    let high = 0;
    for (let index = 0; index < 10; index += 1) {
      if (this.pos + index >= this.end) return this.fail("varint is cut off");
      const byte = this.bytes[this.pos + index] as number;
      const bits = byte & 127;
      if (index < 5) low = (low | (bits << (index * 7))) >>> 0;
      if (index === 4) high = bits >>> 4;
      else if (index > 4) high = (high | (bits << ((index - 5) * 7 + 3))) >>> 0;
      if (byte < 128) {
        this.low = low;
        this.high = high;
        this.pos += index + 1;
        return true;
      }
    }
    return this.fail("varint is longer than 10 bytes");
  }

  /** Groups are obsolete, unknown to us and passed over; the end must name the field of the start. */
  private skipGroup(): boolean {
    const group = this.field;
    const open = [group];
    while (open.length > 0) {
      if (this.pos >= this.end) return this.fail("group is cut off");
      if (!this.readTag()) return false;
      if (this.wireType === wireGroupEnd) {
        if (open.pop() !== this.field) return this.fail("group ends with another field's number");
      } else if (this.wireType === wireGroupStart) {
        if (open.length >= groupDepthMax) return this.fail("groups are nested too deeply");
        open.push(this.field);
      } else if (!this.skipValue()) return false;
    }
    this.field = group;
    this.wireType = wireGroupStart;
    return true;
  }

  private skipValue(): boolean {
    if (this.wireType === wireVarint) return this.readVarint();
    if (this.wireType === wireBytes) return this.readRange();
    if (this.wireType === wireFixed64) return this.take(8);
    if (this.wireType === wireFixed32) return this.take(4);
    return this.fail("unknown wire type");
  }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
