import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@millrace/base/clock";
import { systemRandom } from "@millrace/base/random";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readBlob } from "./blob-store.ts";
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

async function read(key: string, range?: { from: number; to: number }): Promise<Uint8Array | undefined> {
  const blob = await store.get(key, range);
  return blob === undefined ? undefined : readBlob(blob);
}

async function keys(prefix: string): Promise<string[]> {
  const found: string[] = [];
  for await (const head of store.list(prefix)) found.push(head.key);
  return found.sort();
}

async function* pieces(of: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < of.length; at += size) yield of.subarray(at, at + size);
}

describe("reading what was put", () => {
  test("bytes and streams come back, with their size", async () => {
    const bytes = randomBytes(1_000_000);
    expect((await store.put("p/whole", bytes)).size).toBe(1_000_000);
    expect((await store.put("p/streamed", pieces(bytes, 70_001))).size).toBe(1_000_000);
    expect(await read("p/whole")).toEqual(bytes);
    expect(await read("p/streamed")).toEqual(bytes);
    expect((await store.head("p/streamed"))?.size).toBe(1_000_000);
  });

  test("an empty blob is a blob", async () => {
    await store.put("p/empty", new Uint8Array());
    expect(await read("p/empty")).toHaveLength(0);
    expect(await store.head("p/empty")).toMatchObject({ size: 0 });
  });

  test("a range is half open and ends with the blob", async () => {
    await store.put("p/a", Buffer.from("0123456789"));
    const text = async (from: number, to: number): Promise<string> =>
      Buffer.from((await read("p/a", { from, to })) ?? []).toString();
    expect(await text(0, 4)).toBe("0123");
    expect(await text(4, 5)).toBe("4");
    expect(await text(8, 100)).toBe("89");
    expect(await text(10, 12)).toBe("");
    expect(await text(5, 5)).toBe("");
  });

  test("what is not there is undefined, also below a blob", async () => {
    await store.put("p/a", Buffer.from("x"));
    for (const key of ["p/b", "q/a", "p/a/b", "p"]) {
      expect(await store.get(key)).toBeUndefined();
      expect(await store.head(key)).toBeUndefined();
    }
  });

  test("a blob that is deleted while it is read says so", async () => {
    await store.put("p/a", Buffer.from("x"));
    const blob = await store.get("p/a");
    await store.delete("p/a");
    if (blob === undefined) throw new Error("the blob was there");
    await expect(readBlob(blob)).rejects.toMatchObject({ code: "blob-gone" });
  });
});

describe("keys", () => {
  test.each([
    "",
    "/",
    "a//b",
    "../a",
    "a/../../b",
    "a/.",
    ".hidden",
    "a/.b",
    "a b",
    "a\\b",
    "a\u0000",
    "ä",
    "a/",
  ])("%j is refused everywhere", async (key) => {
    await expect(store.put(key, Buffer.from("x"))).rejects.toMatchObject({ code: "blob-bad-key" });
    await expect(async () => store.get(key)).rejects.toMatchObject({ code: "blob-bad-key" });
    await expect(async () => store.delete(key)).rejects.toMatchObject({ code: "blob-bad-key" });
  });

  test("a key below another blob's key is refused as a conflict", async () => {
    await store.put("p/a", Buffer.from("x"));
    await expect(store.put("p/a/b", Buffer.from("y"))).rejects.toMatchObject({ code: "blob-key-conflict" });
    await store.put("q/a/b", Buffer.from("y"));
    await expect(store.put("q/a", Buffer.from("x"))).rejects.toMatchObject({ code: "blob-key-conflict" });
    expect(await readdir(join(directory, "unfinished"))).toEqual([]);
  });
});

describe("listing and deleting", () => {
  test("a prefix may end inside a word", async () => {
    for (const key of ["p/staged/1/1-aa", "p/staged/1/2-bb", "p/staged/12/1-cc", "p/st", "q/x"]) {
      await store.put(key, Buffer.from(key));
    }
    expect(await keys("")).toHaveLength(5);
    expect(await keys("p/staged/1")).toEqual(["p/staged/1/1-aa", "p/staged/1/2-bb", "p/staged/12/1-cc"]);
    expect(await keys("p/staged/1/")).toEqual(["p/staged/1/1-aa", "p/staged/1/2-bb"]);
    expect(await keys("p/st")).toHaveLength(4);
    expect(await keys("nothing/here")).toEqual([]);
  });

  test("deleting is repeatable and leaves no empty directory", async () => {
    await store.put("p/staged/1/1-aa", Buffer.from("x"));
    await store.put("p/staged/2/1-bb", Buffer.from("x"));
    await store.delete("p/staged/1/1-aa");
    await store.delete("p/staged/1/1-aa");
    expect(await keys("")).toEqual(["p/staged/2/1-bb"]);
    expect(await readdir(join(directory, "objects", "p", "staged"))).toEqual(["2"]);
  });

  test("puts and deletes beside each other in one directory all succeed", async () => {
    const turns = Array.from({ length: 40 }, async (_, turn) => {
      await store.put(`p/d/${turn}`, Buffer.from(String(turn)));
      if (turn % 2 === 0) await store.delete(`p/d/${turn}`);
    });
    await Promise.all(turns);
    expect(await keys("p/d/")).toHaveLength(20);
  });
});

describe("puts of one key at the same time", () => {
  test("a reader sees nothing or all of it", async () => {
    const bytes = randomBytes(300_000);
    const seen: (Uint8Array | undefined)[] = [];
    const puts = Array.from({ length: 8 }, () => store.put("p/same", pieces(bytes, 10_000)));
    const reads = Array.from({ length: 8 }, async () => seen.push(await read("p/same")));
    await Promise.all([...puts, ...reads]);
    for (const found of seen) if (found !== undefined) expect(found).toEqual(bytes);
    expect(await read("p/same")).toEqual(bytes);
    expect(await readdir(join(directory, "unfinished"))).toEqual([]);
  });
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

  test("a source that fails passes its own error on and leaves nothing", async () => {
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("some");
      throw new Error("the source broke");
    }
    await expect(store.put("p/a", failing())).rejects.toThrow("the source broke");
    expect(await store.head("p/a")).toBeUndefined();
    expect(await readdir(join(directory, "unfinished"))).toEqual([]);
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
