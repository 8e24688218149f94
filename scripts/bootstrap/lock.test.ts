import { existsSync } from "node:fs";
import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withLock } from "./lock.mjs";

let directory: string;
let file: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "millrace-lock-"));
  file = join(directory, "deep", "lock");
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

test("one at a time, and the file is gone afterwards", async () => {
  let inside = 0;
  let most = 0;
  const turns = [1, 2, 3].map(() =>
    withLock(file, async () => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
    }),
  );
  await Promise.all(turns);
  expect(most).toBe(1);
  expect(existsSync(file)).toBe(false);
});

test("it is free again after a failure", async () => {
  await expect(withLock(file, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await withLock(file, async () => 1)).toBe(1);
});

test("a lock whose process is gone, or that shows no life, is taken over", async () => {
  const gone = 2 ** 22 - 1; // Above the largest process number of a usual system.
  await withLock(file, async () => {});
  await writeFile(file, String(gone));
  expect(await withLock(file, async () => "of the dead")).toBe("of the dead");
  await writeFile(file, String(process.ppid));
  const longAgo = new Date("2020-01-01T00:00:00Z");
  await utimes(file, longAgo, longAgo);
  expect(await withLock(file, async () => "of the silent")).toBe("of the silent");
});
