/** Bytes up to which `rawFrame` takes less than it costs: handing work to another thread takes 60 µs of CPU. */
export const rawFrameBytesMax = 512;

// RFC 8878, 3.1.1: magic number; descriptor (single segment, content size of 1 or 2 bytes); one raw block, the last.
const magic = [0x28, 0xb5, 0x2f, 0xfd];
const oneByteSize = 0x20;
const twoByteSize = 0x60;
const twoByteSizeFrom = 256;

/** A zstd frame of the concatenated `parts`, at most `rawFrameBytesMax` bytes in all, as they are: not compressed. */
export function rawFrame(parts: readonly Uint8Array[], bytes: number): Uint8Array {
  const size = bytes - twoByteSizeFrom;
  const sizeField = size < 0 ? [oneByteSize, bytes] : [twoByteSize, size & 0xff, size >>> 8];
  const block = (bytes << 3) | 1;
  const head = [...magic, ...sizeField, block & 0xff, (block >>> 8) & 0xff, block >>> 16];
  const frame = new Uint8Array(head.length + bytes);
  frame.set(head);
  let at = head.length;
  for (const part of parts) {
    frame.set(part, at);
    at += part.length;
  }
  return frame;
}
