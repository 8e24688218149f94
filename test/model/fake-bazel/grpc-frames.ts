const prefixBytes = 5;

/** A gRPC message on the wire: not compressed, its length in four bytes, its bytes. */
export function frameGrpc(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(prefixBytes + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, prefixBytes);
  return frame;
}

/** Cuts what arrives into messages. */
export class GrpcUnframer {
  private rest: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): Buffer[] {
    const bytes = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    const messages: Buffer[] = [];
    let at = 0;
    while (bytes.length - at >= prefixBytes) {
      const end = at + prefixBytes + bytes.readUInt32BE(at + 1);
      if (end > bytes.length) break;
      messages.push(bytes.subarray(at + prefixBytes, end));
      at = end;
    }
    this.rest = bytes.subarray(at);
    return messages;
  }
}
