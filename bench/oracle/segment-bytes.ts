import { loadZstd, type Zstd } from "@millrace/base/zstd";
import { type BlobStore, readBlob } from "@millrace/blobs/blob-store";
import type { Row } from "./snapshot.ts";

/** What became of a segment's content. `lost`: it is nowhere; `changed`: it is not what was written. */
export type Content =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "lost" | "changed"; readonly why: string };

/** Reads the content of segments, wherever it lies. */
export class SegmentBytes {
  private readonly zstd: Zstd;
  private readonly blobs: BlobStore | undefined;

  constructor(zstd: Zstd, blobs: BlobStore | undefined) {
    this.zstd = zstd;
    this.blobs = blobs;
  }

  static async open(blobs: BlobStore | undefined): Promise<SegmentBytes> {
    return new SegmentBytes(await loadZstd(), blobs);
  }

  async read(row: Row): Promise<Content> {
    const packed = await this.packed(row);
    if (packed.kind !== "bytes") return packed;
    try {
      return { kind: "bytes", bytes: await this.zstd.decompress(packed.bytes) };
    } catch {
      // Whatever the codec calls it: these are not the bytes that were written.
      return { kind: "changed", why: "its content is no whole zstd frame" };
    }
  }

  private async packed(row: Row): Promise<Content> {
    if (row["data"] instanceof Uint8Array) return { kind: "bytes", bytes: row["data"] };
    const key = row["staged_key"];
    if (typeof key !== "string") return { kind: "lost", why: "it has neither content nor a key" };
    const blob = await this.blobs?.get(key);
    if (blob !== undefined) return { kind: "bytes", bytes: await readBlob(blob) };
    const where = this.blobs === undefined ? "lies in the blob store, which was not named" : "is not there";
    return { kind: "lost", why: `the blob ${key} ${where}` };
  }
}
