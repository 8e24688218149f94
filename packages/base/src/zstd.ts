import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { rawFrame, rawFrameBytesMax } from "./zstd-raw-frame.ts";

/**
 * Zstandard behind a port. `@mongodb-js/zstd` compresses wherever its addon loads; elsewhere Node's own zlib
 * does, with the same frames. Both run off the JavaScript thread.
 */
export interface Zstd {
  readonly codec: "@mongodb-js/zstd" | "node:zlib";
  /** One frame; a few hundred bytes are not worth the way to another thread and become a raw one. */
  compress(bytes: Uint8Array, level: number): Promise<Uint8Array>;
  /** Fails with an error when `bytes` is not one or more whole frames. */
  decompress(bytes: Uint8Array): Promise<Uint8Array>;
}

/** Level 1: 385 MB/s a core at 64 KB against 334 at level 3, for 5 % more bytes (measured on BEP streams). */
export const hotLevel = 1;

/** Picks the codec once per process; `doctor` shows which one it was. */
export async function loadZstd(): Promise<Zstd> {
  try {
    const addon = await import("@mongodb-js/zstd");
    return {
      codec: "@mongodb-js/zstd",
      compress: async (bytes, level) =>
        bytes.length <= rawFrameBytesMax ? rawFrame(bytes) : addon.compress(asBuffer(bytes), level),
      decompress: (bytes) => addon.decompress(asBuffer(bytes)),
    };
  } catch {
    // Not built on this machine: the fallback writes the same frames, only slower.
    return nodeZstd();
  }
}

/** The fallback codec, exported so that tests can compare its frames with the addon's. */
export function nodeZstd(): Zstd {
  const compress = promisify(zlib.zstdCompress) as (
    bytes: Uint8Array,
    options: zlib.ZstdOptions,
  ) => Promise<Uint8Array>;
  const decompress = promisify(zlib.zstdDecompress) as (bytes: Uint8Array) => Promise<Uint8Array>;
  return {
    codec: "node:zlib",
    compress: (bytes, level) =>
      compress(bytes, { params: { [zlib.constants.ZSTD_c_compressionLevel]: level } }),
    decompress: (bytes) => decompress(bytes),
  };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
