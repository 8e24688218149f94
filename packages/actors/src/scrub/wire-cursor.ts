/**
 * Walks the fields of a message like proto's `FieldScanner`, but also says where the length of a field stands, which a
 * rewriter must change. After `next()` was true the field is `bytes[at, to)`: tag, then from `lengthFrom` (when
 * length-delimited) the length, and its value from `from`.
 */
export class WireCursor {
  field = 0;
  isDelimited = false;
  lengthFrom = 0;
  from = 0;
  to = 0;
  /** The rest of the message, from here, is no protobuf message. */
  brokenFrom = -1;
  private readonly bytes: Uint8Array;
  private readonly end: number;
  private position: number;
  private value = 0;

  constructor(bytes: Uint8Array, from: number, to: number) {
    this.bytes = bytes;
    this.position = from;
    this.end = to;
  }

  next(): boolean {
    const start = this.position;
    if (start >= this.end) return false;
    if (!this.readVarint()) return this.breakAt(start);
    this.field = this.value >>> 3;
    const wireType = this.value & 7;
    if (this.field === 0) return this.breakAt(start);
    this.isDelimited = wireType === 2;
    this.lengthFrom = this.position;
    if (wireType !== 1 && wireType !== 5 && !this.readVarint()) return this.breakAt(start);
    if (wireType === 2) return this.take(this.value, start);
    this.from = this.lengthFrom;
    if (wireType === 0) this.to = this.position;
    else if (wireType === 1) return this.take(8, start);
    else if (wireType === 5) return this.take(4, start);
    // Groups are obsolete; what one holds is treated like bytes that are no message.
    else return this.breakAt(start);
    return true;
  }

  private take(length: number, start: number): boolean {
    if (length > this.end - this.position) return this.breakAt(start);
    this.from = this.position;
    this.to = this.position + length;
    this.position = this.to;
    return true;
  }

  private breakAt(start: number): false {
    this.brokenFrom = start;
    this.position = this.end;
    return false;
  }

  /** Reads into `value` the low 32 bits of a varint. */
  private readVarint(): boolean {
    let value = 0;
    for (let index = 0; index < 10; index += 1) {
      if (this.position >= this.end) return false;
      const byte = this.bytes[this.position] as number;
      this.position += 1;
      if (index < 5) value |= (byte & 127) << (7 * index);
      if (byte < 128) {
        this.value = value >>> 0;
        return true;
      }
    }
    return false;
  }
}
