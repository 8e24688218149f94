const prefixBytes = 5;

/** What goes before a gRPC message on the wire: not compressed, its length in four bytes. */
export function grpcPrefix(length: number): Uint8Array {
  return Uint8Array.of(0, length >>> 24, length >>> 16, length >>> 8, length);
}

/** Cuts what arrives into messages, each of which may come in thousands of pieces. */
export class GrpcUnframer {
  /** An unfinished message: its pieces, their length, and how long they must be before it is worth looking again. */
  private parts: Buffer[] = [];
  private partBytes = 0;
  private neededBytes = 0;

  /** The messages are views of `chunk` where they can be; of an unfinished one a copy is kept. */
  push(chunk: Buffer): Buffer[] {
    if (this.partBytes === 0) return this.cut(chunk);
    this.keep(chunk);
    if (this.partBytes < this.neededBytes) return [];
    const bytes = Buffer.concat(this.parts);
    this.parts = [];
    this.partBytes = 0;
    return this.cut(bytes);
  }

  private cut(bytes: Buffer): Buffer[] {
    const messages: Buffer[] = [];
    let at = 0;
    this.neededBytes = prefixBytes;
    while (bytes.length - at >= prefixBytes) {
      const length = prefixBytes + bytes.readUInt32BE(at + 1);
      if (at + length > bytes.length) {
        this.neededBytes = length;
        break;
      }
      messages.push(bytes.subarray(at + prefixBytes, at + length));
      at += length;
    }
    if (at < bytes.length) this.keep(bytes.subarray(at));
    return messages;
  }

  private keep(bytes: Buffer): void {
    this.parts.push(Buffer.from(bytes));
    this.partBytes += bytes.length;
  }
}
