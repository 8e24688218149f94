import { mkdir, open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import type { BlobContent } from "./blob-store.ts";
import { isMissing } from "./disk-errors.ts";

const renameAttemptsMax = 10;

/** Writes a new file and waits until its bytes are on the disk. Fails if the file exists. */
export async function writeSynced(path: string, content: BlobContent): Promise<number> {
  const handle = await open(path, "wx", 0o640);
  let size = 0;
  try {
    for await (const piece of content instanceof Uint8Array ? [content] : content) {
      await handle.writeFile(piece);
      size += piece.byteLength;
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  return size;
}

/**
 * Moves `from` to `to` and waits until every directory entry on the way from `root` is on the disk, also one
 * that another process made a moment ago. Directories that are missing, or that a concurrent delete took away
 * between two steps, are made.
 */
export async function renameSynced(move: { from: string; to: string; root: string }): Promise<void> {
  const directory = dirname(move.to);
  for (let attempt = 1; ; attempt++) {
    try {
      await rename(move.from, move.to);
      break;
    } catch (error) {
      if (!isMissing(error) || attempt === renameAttemptsMax) throw error;
      await mkdir(directory, { recursive: true, mode: 0o750 });
    }
  }
  await syncUpwards(directory, move.root);
}

/** Waits until the entries of a directory are on the disk. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncUpwards(directory: string, root: string): Promise<void> {
  for (let at = directory; at.length >= root.length; at = dirname(at)) await syncDirectory(at);
}
