import type { BlobContent } from "./blob-store.ts";

/** Bytes on their way into a store. */
export interface WatchedSource {
  readonly content: BlobContent;
  /** The source itself failed: its error is the caller's, not the store's. */
  failed(): boolean;
  /** Bytes that it gave so far. */
  size(): number;
}

/** Tells a failure of where the bytes come from, which is the caller's, from one of the store. */
export function watched(content: BlobContent): WatchedSource {
  if (content instanceof Uint8Array) return { content, failed: () => false, size: () => content.length };
  let failed = false;
  let size = 0;
  async function* pass(from: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    failed = true;
    for await (const piece of from) {
      failed = false;
      size += piece.length;
      yield piece;
      failed = true;
    }
    failed = false;
  }
  return { content: pass(content), failed: () => failed, size: () => size };
}
