import { expect, test } from "vitest";
import { loadZstd, nodeZstd } from "./zstd.ts";
import { rawFrame, rawFrameBytesMax } from "./zstd-raw-frame.ts";

test("both codecs read a raw frame of any allowed size", async () => {
  const codecs = [await loadZstd(), nodeZstd()];
  for (const length of [0, 1, 127, 128, 255, 256, 257, 300, rawFrameBytesMax]) {
    const content = Uint8Array.from({ length }, (_, index) => (index * 31) % 256);
    const frame = rawFrame(content);
    for (const codec of codecs) {
      expect(Buffer.from(await codec.decompress(frame)).equals(content), `${length} ${codec.codec}`).toBe(
        true,
      );
    }
  }
});

test("what is little is framed, what is more is compressed", async () => {
  const { compress } = await loadZstd();
  expect((await compress(Buffer.alloc(rawFrameBytesMax, "a"), 1)).length).toBeGreaterThan(rawFrameBytesMax);
  expect((await compress(Buffer.alloc(rawFrameBytesMax + 1, "a"), 1)).length).toBeLessThan(50);
});
