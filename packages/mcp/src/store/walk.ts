import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { errorCode } from "@millrace/base/errors";
import { file, invocationDirectory, type Layout } from "./layout.ts";
import { decodeManifest } from "./manifest.ts";
import type { Invocation } from "./record.ts";
import { isUuid } from "./uuid7.ts";

let shared = Buffer.alloc(1 << 16);

/** Reads a small file whole, with one buffer for all: a start reads every manifest. */
export function readSmallFile(path: string): string {
  const fd = openSync(path, "r");
  try {
    let length = readSync(fd, shared, 0, shared.length, 0);
    if (length === shared.length) {
      shared = Buffer.alloc(fstatSync(fd).size + 1);
      length = readSync(fd, shared, 0, shared.length, 0);
    }
    return shared.toString("utf8", 0, length);
  } finally {
    closeSync(fd);
  }
}

/** The manifest of an invocation; undefined when there is none. Damage is thrown, see `decodeManifest`. */
export function readManifest(layout: Layout, id: string): Invocation | undefined {
  const path = `${invocationDirectory(layout, id)}/${file.manifest}`;
  let text: string;
  try {
    text = readSmallFile(path);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
  return decodeManifest(text, path);
}

/** `<day>/<shard>` of every directory that may hold invocations, with its time of change in nanoseconds. */
export function listShards(layout: Layout): Map<string, bigint> {
  const shards = new Map<string, bigint>();
  for (const day of namesIn(layout.invocations)) {
    for (const shard of namesIn(`${layout.invocations}/${day}`)) {
      const name = `${day}/${shard}`;
      shards.set(name, statSync(`${layout.invocations}/${name}`, { bigint: true }).mtimeNs);
    }
  }
  return shards;
}

/** Ids of the invocations in one shard. Anything else in there is not ours. */
export function idsInShard(layout: Layout, shard: string): string[] {
  return namesIn(`${layout.invocations}/${shard}`).filter(isUuid);
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}
