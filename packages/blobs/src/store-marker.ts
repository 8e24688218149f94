import { link, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { errorCode, MillraceError } from "@millrace/base/errors";
import type { Random } from "@millrace/base/random";
import { z } from "zod";
import { isMissing } from "./disk-errors.ts";
import { syncDirectory, writeSynced } from "./durable-file.ts";

/** The file that says which store a directory is. */
export const markerName = "millrace-store.json";

const markerSchema = z.object({ store: z.uuid() });

/**
 * The identity of the store in `directory`, made at its first use. Two processes share a disk store exactly
 * when they read the same identity: on hosts with a directory each they differ, and must not serve one database.
 */
export async function storeIdentity(directory: string, random: Random): Promise<string> {
  const path = join(directory, markerName);
  const present = await readMarker(path);
  if (present !== undefined) return present;
  await createMarker({ path, directory, random });
  const made = await readMarker(path);
  if (made !== undefined) return made;
  throw unreadable(path, undefined);
}

/** Whoever links first has made it; a reader never sees half a marker. */
async function createMarker(at: { path: string; directory: string; random: Random }): Promise<void> {
  const draft = `${at.path}.${at.random.uuid()}`;
  await writeSynced(draft, new TextEncoder().encode(`${JSON.stringify({ store: at.random.uuid() })}\n`));
  try {
    await link(draft, at.path);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  } finally {
    await unlink(draft);
  }
  await syncDirectory(at.directory);
}

async function readMarker(path: string): Promise<string | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  try {
    return markerSchema.parse(JSON.parse(text)).store;
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, cause: unknown): MillraceError {
  return new MillraceError({
    remedy: "crash",
    code: "blob-bad-marker",
    message: `${path} is not the marker of a blob store: restore it, or point at an empty directory`,
    cause,
  });
}
