const smallWriteBytes = 4_096;

/** The part of a socket that a write needs. */
export interface WritableSocket {
  readonly writableLength: number;
  write(bytes: Uint8Array): boolean;
}

/**
 * Memory in which a write is put together, for all sockets of a process: a build's 40 KB in fresh memory for each write
 * make more garbage than all else a generator does. Hazard: what a socket could not hand to the operating system at once
 * still lies in it, so then that memory is left to the socket.
 */
export class WriteBuffer {
  private bytes: Buffer = Buffer.alloc(0);

  /** Memory of at least that size. Its content is anybody's until it is written. */
  room(bytesMin: number): Buffer {
    if (this.bytes.length < bytesMin) this.bytes = Buffer.allocUnsafeSlow(bytesMin);
    return this.bytes;
  }

  /** Writes the first `count` bytes of the room. */
  write(socket: WritableSocket, count: number): void {
    const bytes = this.bytes.subarray(0, count);
    if (count <= smallWriteBytes) {
      socket.write(Buffer.from(bytes));
      return;
    }
    socket.write(bytes);
    if (socket.writableLength > 0) this.bytes = Buffer.alloc(0);
  }
}
