import { MillraceError } from "@millrace/base/errors";
import type { Zstd } from "@millrace/base/zstd";
import type { ArchiveFrame } from "./archive-index.ts";
import { type BlobStore, readBlob } from "./blob-store.ts";

/** What is read of an archive at a time: one request, whatever the number of its frames. */
const requestBytesMax = 1024 * 1024;

/** The unpacked content of one frame. */
export interface UnpackedFrame {
  readonly frame: ArchiveFrame;
  readonly bytes: Uint8Array;
}

/**
 * Unpacks frames of the archive under `key`, in order; neighbours are fetched together. Fails with `segment-missing`
 * when the object is not there and with `archive-broken` when a frame is not what the index says.
 */
export async function* unpackFrames(
  source: { readonly blobs: BlobStore; readonly zstd: Zstd },
  key: string,
  frames: readonly ArchiveFrame[],
): AsyncGenerator<UnpackedFrame> {
  for (let at = 0; at < frames.length; ) {
    const run = runFrom(frames, at);
    const [first] = run;
    if (first === undefined) return;
    const to = run.reduce((_, frame) => frame.at + frame.size, 0);
    const blob = await source.blobs.get(key, { from: first.at, to });
    if (blob === undefined) throw missing(key);
    const packed = await readBlob(blob);
    for (const frame of run) {
      const from = frame.at - first.at;
      yield {
        frame,
        bytes: await unpack(source.zstd, { key, frame, packed: packed.subarray(from, from + frame.size) }),
      };
    }
    at += run.length;
  }
}

function runFrom(frames: readonly ArchiveFrame[], start: number): readonly ArchiveFrame[] {
  let end = start + 1;
  for (let bytes = frames[start]?.size ?? 0; end < frames.length; end += 1) {
    const [before, frame] = [frames[end - 1], frames[end]];
    if (before === undefined || frame === undefined || before.at + before.size !== frame.at) break;
    bytes += frame.size;
    if (bytes > requestBytesMax) break;
  }
  return frames.slice(start, end);
}

async function unpack(
  zstd: Zstd,
  what: { key: string; frame: ArchiveFrame; packed: Uint8Array },
): Promise<Uint8Array> {
  const { key, frame, packed } = what;
  const bytes =
    packed.length === frame.size ? await zstd.decompress(packed).catch(() => undefined) : undefined;
  if (bytes?.length === frame.rawBytes) return bytes;
  throw new MillraceError({
    remedy: "retry",
    code: "archive-broken",
    message: `the archive ${key} is damaged at byte ${frame.at}`,
  });
}

function missing(key: string): MillraceError {
  return new MillraceError({
    remedy: "retry",
    code: "segment-missing",
    message: `a part of this stream (${key}) is not in the blob store`,
  });
}
