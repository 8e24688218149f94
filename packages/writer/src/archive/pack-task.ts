import { loadZstd } from "@millrace/base/zstd";
import { type PackedArchive, type PackOrder, packArchive } from "./pack-archive.ts";

/** Run by Piscina: the heavy part of compaction in a thread of its own. */
export default async function packTask(order: PackOrder): Promise<PackedArchive> {
  return packArchive(order, await loadZstd());
}
