import { createReadStream } from "node:fs";
import { mkdir, rmdir, stat, unlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Clock } from "@millrace/base/clock";
import { errorCode, MillraceError } from "@millrace/base/errors";
import type { Random } from "@millrace/base/random";
import { keySegments } from "./blob-key.ts";
import type { Blob, BlobContent, BlobHead, ByteRange, OwnedBlobStore } from "./blob-store.ts";
import { diskFailure, isMissing } from "./disk-errors.ts";
import { entriesOf, headOf, listFiles } from "./disk-listing.ts";
import { renameSynced, syncDirectory, writeSynced } from "./durable-file.ts";
import { leftoverAgeMs } from "./leftovers.ts";
import { storeIdentity } from "./store-marker.ts";
import { watched } from "./watched-source.ts";

/** Bytes read from the disk at a time. */
const readPieceBytes = 256 * 1024;

/** Its identity is equal in two processes exactly when they share the directory. */
export type DiskStore = OwnedBlobStore;

/**
 * A blob store in a directory: `objects/` holds the blobs by key, `unfinished/` what is being written.
 * A put writes and syncs a file there, renames it to its place and syncs the directories.
 */
export async function openDiskStore(at: {
  directory: string;
  random: Random;
  clock: Clock;
}): Promise<DiskStore> {
  const root = resolve(at.directory);
  const objects = join(root, "objects");
  const unfinished = join(root, "unfinished");
  const identity = await atStart(root, async () => {
    for (const directory of [root, objects, unfinished])
      await mkdir(directory, { recursive: true, mode: 0o750 });
    await syncDirectory(root);
    return storeIdentity(root, at.random);
  });
  const pathOf = (key: string): string => join(objects, ...keySegments(key));
  const store: DiskStore = {
    identity,
    put: async (key, content) => {
      const draft = join(unfinished, at.random.uuid());
      return putFile({ key, path: pathOf(key), draft, root, content });
    },
    get: (key, range) => getFile({ key, path: pathOf(key), range }),
    head: (key) => headOf(key, pathOf(key)),
    delete: (key) => deleteFile(pathOf(key), objects),
    list: (prefix) => listFiles(objects, prefix),
    removeLeftovers: (olderThanMs = leftoverAgeMs) => removeOlder(unfinished, at.clock.now() - olderThanMs),
  };
  return store;
}

async function atStart<T>(root: string, prepare: () => Promise<T>): Promise<T> {
  try {
    return await prepare();
  } catch (error) {
    const failure = diskFailure(`opening the blob store ${root}`, error);
    throw new MillraceError({
      remedy: "crash",
      code: failure.code,
      message: failure.message,
      cause: failure.cause,
    });
  }
}

async function putFile(what: {
  key: string;
  path: string;
  draft: string;
  root: string;
  content: BlobContent;
}): Promise<BlobHead> {
  const source = watched(what.content);
  try {
    const size = await writeSynced(what.draft, source.content);
    await renameSynced({ from: what.draft, to: what.path, root: what.root });
    const { mtimeMs } = await stat(what.path);
    return { key: what.key, size, modifiedAtMs: mtimeMs };
  } catch (error) {
    await unlink(what.draft).catch(() => {
      // It was never made, or is already in its place: the failure that counts is the first.
    });
    if (source.failed()) throw error;
    throw diskFailure(`storing ${what.key}`, error);
  }
}

async function getFile(what: {
  key: string;
  path: string;
  range: ByteRange | undefined;
}): Promise<Blob | undefined> {
  const head = await headOf(what.key, what.path);
  if (head === undefined) return undefined;
  const from = Math.max(0, what.range?.from ?? 0);
  const to = Math.min(head.size, what.range?.to ?? head.size);
  return { head, content: readPieces({ ...what, from, to }) };
}

async function* readPieces(what: {
  key: string;
  path: string;
  from: number;
  to: number;
}): AsyncGenerator<Uint8Array> {
  if (what.from >= what.to) return;
  const file = createReadStream(what.path, {
    start: what.from,
    end: what.to - 1,
    highWaterMark: readPieceBytes,
  });
  try {
    yield* file as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (!isMissing(error)) throw diskFailure(`reading ${what.key}`, error);
    throw new MillraceError({
      remedy: "reject",
      code: "blob-gone",
      message: `the blob ${what.key} was deleted while it was being read`,
      cause: error,
    });
  }
}

async function deleteFile(path: string, objects: string): Promise<void> {
  try {
    await unlink(path);
    await syncDirectory(dirname(path));
    await removeEmptyDirectories(dirname(path), objects);
  } catch (error) {
    if (isMissing(error) || errorCode(error) === "ENOTDIR") return;
    throw diskFailure(`deleting ${path}`, error);
  }
}

/** A put that needs a directory which goes away here makes it again. */
async function removeEmptyDirectories(directory: string, objects: string): Promise<void> {
  for (let at = directory; at.length > objects.length; at = dirname(at)) {
    try {
      await rmdir(at);
    } catch (error) {
      const code = errorCode(error);
      if (code === "ENOTEMPTY" || code === "EEXIST" || code === "ENOENT") return;
      throw error;
    }
  }
}

async function removeOlder(directory: string, before: number): Promise<number> {
  let removed = 0;
  try {
    for (const entry of await entriesOf(directory)) {
      const path = join(directory, entry.name);
      const head = await headOf(entry.name, path);
      if (head === undefined || head.modifiedAtMs >= before) continue;
      await unlink(path);
      removed++;
    }
  } catch (error) {
    throw diskFailure("removing unfinished files", error);
  }
  return removed;
}
