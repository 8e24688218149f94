/** Bytes up to which a raw frame takes less than it costs: handing work to another thread takes 60 µs of CPU. */
export const rawFrameBytesMax = 512;

// RFC 8878, 3.1.1: magic number; descriptor (single segment, content size of 1 or 2 bytes); one raw block, the last.
const magic = [0x28, 0xb5, 0x2f, 0xfd];
const oneByteSize = 0x20;
const twoByteSize = 0x60;
const twoByteSizeFrom = 256;

/** A zstd frame of at most `rawFrameBytesMax` bytes as they are, not compressed. */
export function rawFrame(bytes: Uint8Array): Uint8Array {
  const { length } = bytes;
  const size = length - twoByteSizeFrom;
  const sizeField = size < 0 ? [oneByteSize, length] : [twoByteSize, size & 0xff, size >>> 8];
  const block = (length << 3) | 1;
  const head = [...magic, ...sizeField, block & 0xff, (block >>> 8) & 0xff, block >>> 16];
  const frame = new Uint8Array(head.length + length);
  frame.set(head);
  frame.set(bytes, head.length);
  return frame;
}
