import { statfs } from "node:fs/promises";
import type { Clock } from "@millrace/base/clock";
import { errorText } from "@millrace/base/errors";
import type { Random } from "@millrace/base/random";
import { readBlob } from "@millrace/blobs/blob-store";
import { blobPlace, openBlobs } from "@millrace/blobs/open-blobs";
import type { BlobSettings } from "@millrace/blobs/settings";
import { type Check, fail, ok, warn } from "./check.ts";

const freeBytesMin = 5 * 1024 ** 3;

/** Whether the blob store takes, keeps and gives back. */
export async function checkBlobs(
  settings: BlobSettings,
  world: { readonly clock: Clock; readonly random: Random },
): Promise<Check[]> {
  const place = blobPlace(settings);
  const isDisk = settings.s3Endpoint === "";
  const todo = isDisk
    ? "Make it writable for this user, or name another one with --blob-dir."
    : "Check MILLRACE_S3_ENDPOINT, _BUCKET, _REGION, _ACCESS_KEY and _SECRET_KEY.";
  try {
    const store = await openBlobs(settings, world);
    const key = `doctor/${world.random.uuid()}`;
    const content = Buffer.from(world.random.bytes(4096));
    await store.put(key, content);
    const blob = await store.get(key);
    const isSame = blob !== undefined && content.equals(await readBlob(blob));
    await store.delete(key);
    if (!isSame) return [fail("blobs", `${place} does not give back what was put there`, todo)];
    const space = isDisk ? [await spaceCheck(settings.blobDirectory)] : [];
    return [ok("blobs", `${place} can be written`), ...space];
  } catch (error) {
    return [fail("blobs", `${place}: ${errorText(error)}`, todo)];
  }
}

async function spaceCheck(directory: string): Promise<Check> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  const found = `${(free / 1024 ** 3).toFixed(1)} GiB free`;
  if (free >= freeBytesMin) return ok("disk", found);
  return warn("disk", found, "Make room: PostgreSQL stops when its disk is full.");
}
