import { statfs } from "node:fs/promises";
import type { Clock } from "@millrace/base/clock";
import { errorText } from "@millrace/base/errors";
import type { Random } from "@millrace/base/random";
import { readBlob } from "@millrace/blobs/blob-store";
import { openDiskStore } from "@millrace/blobs/disk-store";
import { type Check, fail, ok, warn } from "./check.ts";

const freeBytesMin = 5 * 1024 ** 3;

/** Whether the blob store takes, keeps and gives back. */
export async function checkBlobs(
  directory: string,
  world: { readonly clock: Clock; readonly random: Random },
): Promise<Check[]> {
  const todo = "Make it writable for this user, or name another one with --blob-dir.";
  try {
    const store = await openDiskStore({ directory, ...world });
    const key = `doctor/${world.random.uuid()}`;
    const content = Buffer.from(world.random.bytes(4096));
    await store.put(key, content);
    const blob = await store.get(key);
    const isSame = blob !== undefined && content.equals(await readBlob(blob));
    await store.delete(key);
    if (!isSame) return [fail("blobs", `${directory} does not give back what was put there`, todo)];
    return [ok("blobs", `${directory} can be written`), await spaceCheck(directory)];
  } catch (error) {
    return [fail("blobs", `${directory}: ${errorText(error)}`, todo)];
  }
}

async function spaceCheck(directory: string): Promise<Check> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  const found = `${(free / 1024 ** 3).toFixed(1)} GiB free`;
  if (free >= freeBytesMin) return ok("disk", found);
  return warn("disk", found, "Make room: PostgreSQL stops when its disk is full.");
}
