import { opendir, stat } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "@millrace/base/errors";
import { keySegments } from "./blob-key.ts";
import type { BlobHead } from "./blob-store.ts";
import { diskFailure, isMissing } from "./disk-errors.ts";

/** All blobs under `objects` whose key starts with `prefix`. */
export async function* listFiles(objects: string, prefix: string): AsyncGenerator<BlobHead> {
  const lastSlash = prefix.lastIndexOf("/");
  const parent = lastSlash === -1 ? [] : keySegments(prefix.slice(0, lastSlash));
  try {
    yield* walk({
      directory: join(objects, ...parent),
      keyPrefix: parent.map((s) => `${s}/`).join(""),
      prefix,
    });
  } catch (error) {
    throw diskFailure(`listing ${prefix}`, error);
  }
}

async function* walk(at: { directory: string; keyPrefix: string; prefix: string }): AsyncGenerator<BlobHead> {
  for (const entry of await entriesOf(at.directory)) {
    const key = at.keyPrefix + entry.name;
    const path = join(at.directory, entry.name);
    if (entry.isDirectory()) {
      const inside = `${key}/`;
      if (!inside.startsWith(at.prefix) && !at.prefix.startsWith(inside)) continue;
      yield* walk({ directory: path, keyPrefix: inside, prefix: at.prefix });
    } else if (key.startsWith(at.prefix)) {
      const head = await headOf(key, path);
      if (head !== undefined) yield head;
    }
  }
}

/** What a directory holds; nothing when it is not there. */
export async function entriesOf(directory: string): Promise<{ name: string; isDirectory(): boolean }[]> {
  const entries = [];
  try {
    for await (const entry of await opendir(directory)) entries.push(entry);
  } catch (error) {
    // A directory that is not there, or that a delete took away meanwhile, holds nothing.
    if (isMissing(error) || errorCode(error) === "ENOTDIR") return [];
    throw error;
  }
  return entries;
}

/** Undefined when there is no such file, also because a part of its path is one. */
export async function headOf(key: string, path: string): Promise<BlobHead | undefined> {
  try {
    const file = await stat(path);
    return file.isFile() ? { key, size: file.size, modifiedAtMs: file.mtimeMs } : undefined;
  } catch (error) {
    if (isMissing(error) || errorCode(error) === "ENOTDIR") return undefined;
    throw diskFailure(`looking for ${key}`, error);
  }
}
