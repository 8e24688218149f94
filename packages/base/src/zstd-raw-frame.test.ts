import { expect, test } from "vitest";
import { loadZstd, nodeZstd } from "./zstd.ts";
import { rawFrame, rawFrameBytesMax } from "./zstd-raw-frame.ts";

test("both codecs read a raw frame of any allowed size", async () => {
  const codecs = [await loadZstd(), nodeZstd()];
  for (const bytes of [0, 1, 127, 128, 255, 256, 257, 300, rawFrameBytesMax]) {
    const content = Uint8Array.from({ length: bytes }, (_, index) => (index * 31) % 256);
    const half = bytes >>> 1;
    const frame = rawFrame([content.subarray(0, half), content.subarray(half)], bytes);
    for (const codec of codecs) {
      expect(Buffer.from(await codec.decompress(frame)).equals(content), `${bytes} ${codec.codec}`).toBe(
        true,
      );
    }
  }
});

test("raw frames may stand before and behind compressed ones", async () => {
  const zstd = await loadZstd();
  const parts = [Buffer.from("first"), Buffer.alloc(5_000, "second"), Buffer.from("third")] as const;
  const frames = [rawFrame([parts[0]], 5), await zstd.compress(parts[1], 1), rawFrame([parts[2]], 5)];
  const [one, two, three] = await Promise.all(frames.map((frame) => zstd.decompress(frame)));
  expect(Buffer.concat([one ?? [], two ?? [], three ?? []].map((part) => Buffer.from(part)))).toEqual(
    Buffer.concat(parts),
  );
});
