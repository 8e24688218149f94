import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@millrace/base/clock";
import { systemRandom } from "@millrace/base/random";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { storesBlobs } from "./blob-store.fixture.ts";
import { type DiskStore, openDiskStore } from "./disk-store.ts";
import { markerName } from "./store-marker.ts";

let directory: string;
let store: DiskStore;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "millrace-blobs-"));
  store = await openStore(directory);
});
afterEach(() => rm(directory, { recursive: true, force: true }));

function openStore(at: string): Promise<DiskStore> {
  return openDiskStore({ directory: at, random: systemRandom, clock: systemClock });
}

storesBlobs(() => store);

async function keys(prefix: string): Promise<string[]> {
  const found: string[] = [];
  for await (const head of store.list(prefix)) found.push(head.key);
  return found.sort();
}

describe("keys", () => {
  test("a key below another blob's key is refused as a conflict", async () => {
    await store.put("p/a", Buffer.from("x"));
    await expect(store.put("p/a/b", Buffer.from("y"))).rejects.toMatchObject({ code: "blob-key-conflict" });
    await store.put("q/a/b", Buffer.from("y"));
    await expect(store.put("q/a", Buffer.from("x"))).rejects.toMatchObject({ code: "blob-key-conflict" });
    expect(await readdir(join(directory, "unfinished"))).toEqual([]);
  });
});

describe("listing and deleting", () => {
  test("deleting leaves no empty directory", async () => {
    await store.put("p/staged/1/1-aa", Buffer.from("x"));
    await store.put("p/staged/2/1-bb", Buffer.from("x"));
    await store.delete("p/staged/1/1-aa");
    await store.delete("p/staged/1/1-aa");
    expect(await keys("")).toEqual(["p/staged/2/1-bb"]);
    expect(await readdir(join(directory, "objects", "p", "staged"))).toEqual(["2"]);
  });
});

test("puts leave nothing unfinished, also one whose source fails", async () => {
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("some");
    throw new Error("the source broke");
  }
  await store.put("p/whole", Buffer.from("x"));
  await expect(store.put("p/a", failing())).rejects.toThrow("the source broke");
  expect(await readdir(join(directory, "unfinished"))).toEqual([]);
});

describe("what a crash leaves", () => {
  test("unfinished files are no blobs and go after a day", async () => {
    const old = join(directory, "unfinished", "left-by-a-dead-process");
    const fresh = join(directory, "unfinished", "being-written");
    await writeFile(old, "half a blo");
    await writeFile(fresh, "half a blo");
    const yesterday = new Date(systemClock.now() - 25 * 60 * 60 * 1000);
    await utimes(old, yesterday, yesterday);
    expect(await keys("")).toEqual([]);
    expect(await store.removeLeftovers()).toBe(1);
    expect(await readdir(join(directory, "unfinished"))).toEqual(["being-written"]);
  });
});

describe("the marker", () => {
  test("two openings of one directory agree, also at the same time; another directory differs", async () => {
    const shared = join(directory, "shared");
    const stores = await Promise.all(Array.from({ length: 5 }, () => openStore(shared)));
    expect(new Set(stores.map((each) => each.identity)).size).toBe(1);
    expect(stores[0]?.identity).not.toBe(store.identity);
    expect((await readdir(shared)).sort()).toEqual([markerName, "objects", "unfinished"]);
  });

  test("a damaged marker is not replaced", async () => {
    await writeFile(join(directory, markerName), "{");
    await expect(openStore(directory)).rejects.toMatchObject({ code: "blob-bad-marker", remedy: "crash" });
  });

  test("a directory that cannot be made stops the start", async () => {
    await writeFile(join(directory, "file"), "");
    await expect(openStore(join(directory, "file"))).rejects.toMatchObject({ remedy: "crash" });
  });
});
