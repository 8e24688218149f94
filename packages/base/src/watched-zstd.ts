import { type Latch, latch } from "./latch.ts";
import type { Zstd } from "./zstd.ts";

/**
 * A codec that says when nothing is on its way. A worker thread must not end before: the addon would come back to
 * a thread that is gone, and the whole process with it.
 */
export function watchedZstd(zstd: Zstd): Zstd & { idle(): Promise<void> } {
  let underWay = 0;
  let quiet: Latch<void> | undefined;
  const watch = async (work: Promise<Uint8Array>): Promise<Uint8Array> => {
    underWay += 1;
    try {
      return await work;
    } finally {
      underWay -= 1;
      if (underWay === 0) quiet?.open();
    }
  };
  return {
    codec: zstd.codec,
    compress: (bytes, level) => watch(zstd.compress(bytes, level)),
    decompress: (bytes) => watch(zstd.decompress(bytes)),
    idle: async () => {
      if (underWay === 0) return;
      quiet ??= latch();
      await quiet.promise;
    },
  };
}
