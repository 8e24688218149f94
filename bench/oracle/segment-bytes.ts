import { loadZstd, type Zstd } from "@millrace/base/zstd";
import { type BlobStore, readBlob } from "@millrace/blobs/blob-store";
import type { Row } from "./snapshot.ts";

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

  /** The content, or in words why it cannot be had. */
  async read(row: Row): Promise<Uint8Array | string> {
    const packed = await this.packed(row);
    if (typeof packed === "string") return packed;
    try {
      return await this.zstd.decompress(packed);
    } catch {
      // Whatever the codec calls it: these are not the bytes that were written.
      return "its content is no whole zstd frame";
    }
  }

  private async packed(row: Row): Promise<Uint8Array | string> {
    if (row["data"] instanceof Uint8Array) return row["data"];
    const key = row["staged_key"];
    if (typeof key !== "string") return "it has neither content nor a key";
    if (this.blobs === undefined) return `its content lies in the blob store, which was not named (${key})`;
    const blob = await this.blobs.get(key);
    return blob === undefined ? `the blob ${key} is not there` : await readBlob(blob);
  }
}
