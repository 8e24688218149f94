import fc from "fast-check";
import { expect, test } from "vitest";
import { loadZstd, nodeZstd } from "./zstd.ts";

const { codec } = await loadZstd();

// A machine without a compiler works with the fallback; CI insists on the addon.
test.skipIf(codec === "node:zlib" && process.env.CI !== "true")(
  "the codec in use is @mongodb-js/zstd",
  () => {
    expect(codec).toBe("@mongodb-js/zstd");
  },
);

test("each codec reads what the other wrote", async () => {
  const addon = await loadZstd();
  const fallback = nodeZstd();
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 4_000 }), async (bytes) => {
      const plain = Buffer.from(bytes);
      expect(Buffer.from(await fallback.decompress(await addon.compress(bytes, 1)))).toEqual(plain);
      expect(Buffer.from(await addon.decompress(await fallback.compress(bytes, 1)))).toEqual(plain);
    }),
    { numRuns: 30 },
  );
});

test("bytes that are no frame are refused", async () => {
  for (const codec of [await loadZstd(), nodeZstd()]) {
    await expect(codec.decompress(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8))).rejects.toThrow();
  }
});
