import { decodeArchiveIndex } from "@millrace/blobs/archive-index";
import type { Database } from "@millrace/db/connect";
import { readStoredArchives } from "@millrace/db/verify-archives";

/** Bytes of all archives in the blob store, by what they hold. */
export interface ArchiveShares {
  readonly raw: number;
  readonly log: number;
  /** The copy of the index at the end of each. */
  readonly index: number;
}

export async function archiveShares({ sql }: Pick<Database, "sql">): Promise<ArchiveShares> {
  const shares = { raw: 0, log: 0, index: 0 };
  for (let after = { attemptId: 0, part: 0 }; ; ) {
    const page = await readStoredArchives(sql, { after, limit: 1_000 });
    for (const archive of page) {
      let framed = 0;
      for (const frame of decodeArchiveIndex(archive.frames, archive)) {
        shares[frame.kind === "events" ? "raw" : "log"] += frame.size;
        framed += frame.size;
      }
      shares.index += archive.size - framed;
    }
    const last = page.at(-1);
    if (last === undefined) return shares;
    after = last;
  }
}
