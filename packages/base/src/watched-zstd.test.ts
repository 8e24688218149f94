import { expect, test } from "vitest";
import { watchedZstd } from "./watched-zstd.ts";

test("it is idle when the last work, done or failed, is over", async () => {
  const works = [Promise.withResolvers<Uint8Array>(), Promise.withResolvers<Uint8Array>()];
  let next = 0;
  const start = (): Promise<Uint8Array> => works[next++]?.promise ?? Promise.reject(new Error("no more"));
  const zstd = watchedZstd({ codec: "node:zlib", compress: start, decompress: start });
  await zstd.idle();
  const results = Promise.allSettled([
    zstd.compress(new Uint8Array(1), 1),
    zstd.decompress(new Uint8Array(1)),
  ]);
  let isIdle = false;
  const idle = zstd.idle().then(() => {
    isIdle = true;
  });
  works[0]?.resolve(new Uint8Array(2));
  await new Promise((resolve) => setImmediate(resolve));
  expect(isIdle).toBe(false);
  works[1]?.reject(new Error("not a frame"));
  await idle;
  expect((await results).map((result) => result.status)).toEqual(["fulfilled", "rejected"]);
});
