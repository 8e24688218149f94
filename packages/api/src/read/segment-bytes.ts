import { MillraceError } from "@millrace/base/errors";
import type { Zstd } from "@millrace/base/zstd";
import { type BlobStore, readBlob } from "@millrace/blobs/blob-store";
import type { SegmentBytes } from "../queries/segments.ts";

/** Where segments come from. */
export interface SegmentSource {
  readonly zstd: Zstd;
  readonly blobs: BlobStore;
}

/** A segment's bytes, uncompressed. Bounded by the largest batch: one event of 100 MB at most. */
export async function segmentBytes(source: SegmentSource, segment: SegmentBytes): Promise<Uint8Array> {
  return source.zstd.decompress(segment.data ?? (await stagedBytes(source, segment.stagedKey)));
}

async function stagedBytes(source: SegmentSource, key: string | null): Promise<Uint8Array> {
  const blob = key === null ? undefined : await source.blobs.get(key);
  if (blob !== undefined) return readBlob(blob);
  throw new MillraceError({
    remedy: "retry",
    code: "segment-missing",
    message: `a part of this stream (${key ?? "without a key"}) is not in the blob store`,
  });
}
