import { zstdDecompressSync } from "node:zlib";

const magic = Buffer.of(0x28, 0xb5, 0x2f, 0xfd);

/** What a zstd frame that stands somewhere in some bytes holds. */
export interface Frame {
  readonly at: number;
  /** Undefined when it cannot be decompressed: cut off, or four bytes that only look like the magic number. */
  readonly content: Uint8Array | undefined;
}

/** Every zstd frame in the bytes, wherever it begins. */
export function zstdFrames(bytes: Uint8Array): Frame[] {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const frames: Frame[] = [];
  for (let at = all.indexOf(magic); at !== -1; at = all.indexOf(magic, at + 1)) {
    const end = endOfFrame(all, at);
    frames.push({ at, content: end === undefined ? undefined : decompress(all.subarray(at, end)) });
  }
  return frames;
}

function decompress(frame: Buffer): Uint8Array | undefined {
  try {
    return zstdDecompressSync(frame);
  } catch {
    return undefined;
  }
}

/** RFC 8878 §3.1.1: the frame header, then blocks of which each has its size before it, then perhaps a checksum. */
function endOfFrame(bytes: Buffer, from: number): number | undefined {
  const descriptor = bytes[from + 4];
  if (descriptor === undefined) return undefined;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeCode = descriptor >> 6;
  const sizeBytes = sizeCode === 0 ? Number(isSingleSegment) : 1 << sizeCode;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  let at = from + 5 + (isSingleSegment ? 0 : 1) + dictionaryBytes + sizeBytes;
  for (;;) {
    if (at + 3 > bytes.length) return undefined;
    const header = bytes.readUIntLE(at, 3);
    const type = (header >> 1) & 3;
    at += 3 + (type === 1 ? 1 : header >> 3);
    if ((header & 1) === 1) break;
  }
  if ((descriptor & 4) !== 0) at += 4;
  return at <= bytes.length ? at : undefined;
}
