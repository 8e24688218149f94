const prefixBytes = 5;

/** What goes before a gRPC message on the wire: not compressed, its length in four bytes. */
export function grpcPrefix(length: number): Uint8Array {
  return Uint8Array.of(0, length >>> 24, length >>> 16, length >>> 8, length);
}

/** Cuts what arrives into messages. */
export class GrpcUnframer {
  private rest: Buffer | undefined;

  /** The messages are views of `chunk` where they can be; of an unfinished one a copy is kept. */
  push(chunk: Buffer): Buffer[] {
    const bytes = this.rest === undefined ? chunk : Buffer.concat([this.rest, chunk]);
    const messages: Buffer[] = [];
    let at = 0;
    while (bytes.length - at >= prefixBytes) {
      const end = at + prefixBytes + bytes.readUInt32BE(at + 1);
      if (end > bytes.length) break;
      messages.push(bytes.subarray(at + prefixBytes, end));
      at = end;
    }
    this.rest = at < bytes.length ? Buffer.from(bytes.subarray(at)) : undefined;
    return messages;
  }
}
