/** Half-open range of bytes: `from` is read, `to` is not. What lies behind the end of the blob is left out. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

export interface BlobHead {
  readonly key: string;
  /** Bytes of the whole blob. */
  readonly size: number;
  /** Milliseconds since the epoch of the last put. */
  readonly modifiedAtMs: number;
}

export interface Blob {
  readonly head: BlobHead;
  /** The bytes asked for, in pieces. Opens when it is iterated; fails with `blob-gone` if deleted by then. */
  readonly content: AsyncIterable<Uint8Array>;
}

export type BlobContent = Uint8Array | AsyncIterable<Uint8Array>;

/**
 * Bytes under a key. A key is content-addressed by its maker: the same key always means the same bytes, so a
 * repeated put is harmless and readers never see two versions.
 *
 * Failures of the store are `MillraceError`s; a key that breaks `keyProblem` is rejected with `blob-bad-key`.
 */
export interface BlobStore {
  /**
   * Stores `content` whole or not at all. When it resolves the bytes survive a power failure; while it runs,
   * and after a crash in it, nobody sees the key.
   */
  put(key: string, content: BlobContent): Promise<BlobHead>;
  /** Undefined when there is no such key. */
  get(key: string, range?: ByteRange): Promise<Blob | undefined>;
  head(key: string): Promise<BlobHead | undefined>;
  /** Deleting what is not there is harmless. */
  delete(key: string): Promise<void>;
  /** All blobs whose key starts with `prefix`, in no promised order. */
  list(prefix: string): AsyncIterable<BlobHead>;
}

/** A store as a process opens it. */
export interface OwnedBlobStore extends BlobStore {
  /** Equal in two processes exactly when they see the same blobs. */
  readonly identity: string;
  /** Deletes what puts of processes that died left unfinished, a day old unless told otherwise. Returns how many. */
  removeLeftovers(olderThanMs?: number): Promise<number>;
}

/** Reads a blob's bytes into one array: for blobs whose size is known to be bounded. */
export async function readBlob(blob: Blob): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of blob.content) pieces.push(piece);
  return Buffer.concat(pieces);
}
