import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type BlobStore, readBlob } from "./blob-store.ts";

/** What every driver must do. `current` is the store of the running test, empty at its start. */
export function storesBlobs(current: () => BlobStore): void {
  const store: BlobStore = {
    put: (key, content) => current().put(key, content),
    get: (key, range) => current().get(key, range),
    head: (key) => current().head(key),
    delete: (key) => current().delete(key),
    list: (prefix) => current().list(prefix),
  };

  readsWhatWasPut(store);
  refusesBadKeys(store);
  listsAndDeletes(store);
  storesWhollyOrNotAtAll(store);
}

async function read(
  store: BlobStore,
  key: string,
  range?: { from: number; to: number },
): Promise<Uint8Array | undefined> {
  const blob = await store.get(key, range);
  return blob === undefined ? undefined : readBlob(blob);
}

async function keysOf(store: BlobStore, prefix: string): Promise<string[]> {
  const found: string[] = [];
  for await (const head of store.list(prefix)) found.push(head.key);
  return found.sort();
}

async function* pieces(of: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < of.length; at += size) yield of.subarray(at, at + size);
}

function readsWhatWasPut(store: BlobStore): void {
  describe("reading what was put", () => {
    test("bytes and streams come back, with their size", async () => {
      const bytes = randomBytes(1_000_000);
      expect((await store.put("p/whole", bytes)).size).toBe(1_000_000);
      expect((await store.put("p/streamed", pieces(bytes, 70_001))).size).toBe(1_000_000);
      expect(await read(store, "p/whole")).toEqual(bytes);
      expect(await read(store, "p/streamed")).toEqual(bytes);
      expect((await store.head("p/streamed"))?.size).toBe(1_000_000);
    });

    test("an empty blob is a blob", async () => {
      await store.put("p/empty", new Uint8Array());
      expect(await read(store, "p/empty")).toHaveLength(0);
      expect(await store.head("p/empty")).toMatchObject({ size: 0 });
    });

    test("a range is half open and ends with the blob", async () => {
      await store.put("p/a", Buffer.from("0123456789"));
      const text = async (from: number, to: number): Promise<string> =>
        Buffer.from((await read(store, "p/a", { from, to })) ?? []).toString();
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
}

function refusesBadKeys(store: BlobStore): void {
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
  });
}

function listsAndDeletes(store: BlobStore): void {
  describe("listing and deleting", () => {
    test("a prefix may end inside a word", async () => {
      for (const key of ["p/staged/1/1-aa", "p/staged/1/2-bb", "p/staged/12/1-cc", "p/st", "q/x"]) {
        await store.put(key, Buffer.from(key));
      }
      expect(await keysOf(store, "")).toHaveLength(5);
      expect(await keysOf(store, "p/staged/1")).toEqual([
        "p/staged/1/1-aa",
        "p/staged/1/2-bb",
        "p/staged/12/1-cc",
      ]);
      expect(await keysOf(store, "p/staged/1/")).toEqual(["p/staged/1/1-aa", "p/staged/1/2-bb"]);
      expect(await keysOf(store, "p/st")).toHaveLength(4);
      expect(await keysOf(store, "nothing/here")).toEqual([]);
    });

    test("deleting is repeatable", async () => {
      await store.put("p/staged/1/1-aa", Buffer.from("x"));
      await store.put("p/staged/2/1-bb", Buffer.from("x"));
      await store.delete("p/staged/1/1-aa");
      await store.delete("p/staged/1/1-aa");
      expect(await keysOf(store, "")).toEqual(["p/staged/2/1-bb"]);
    });

    test("puts and deletes beside each other in one directory all succeed", async () => {
      const turns = Array.from({ length: 40 }, async (_, turn) => {
        await store.put(`p/d/${turn}`, Buffer.from(String(turn)));
        if (turn % 2 === 0) await store.delete(`p/d/${turn}`);
      });
      await Promise.all(turns);
      expect(await keysOf(store, "p/d/")).toHaveLength(20);
    });
  });
}

function storesWhollyOrNotAtAll(store: BlobStore): void {
  describe("puts of one key at the same time", () => {
    test("a reader sees nothing or all of it", async () => {
      const bytes = randomBytes(300_000);
      const seen: (Uint8Array | undefined)[] = [];
      const puts = Array.from({ length: 8 }, () => store.put("p/same", pieces(bytes, 10_000)));
      const reads = Array.from({ length: 8 }, async () => seen.push(await read(store, "p/same")));
      await Promise.all([...puts, ...reads]);
      for (const found of seen) if (found !== undefined) expect(found).toEqual(bytes);
      expect(await read(store, "p/same")).toEqual(bytes);
    });
  });

  test("a source that fails passes its own error on, and nobody sees the key", async () => {
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("some");
      throw new Error("the source broke");
    }
    await expect(store.put("p/a", failing())).rejects.toThrow("the source broke");
    expect(await store.head("p/a")).toBeUndefined();
  });
}
