import { MillraceError } from "@millrace/base/errors";
import { unpackFrames } from "@millrace/blobs/archive-frames";
import { type ArchiveFrame, decodeArchiveIndex } from "@millrace/blobs/archive-index";
import { archiveKey } from "@millrace/blobs/blob-key";
import type { ArchiveRow } from "../queries/archives.ts";
import type { SegmentSource } from "./segment-bytes.ts";

/** What lies in an archive at and behind a place, a frame at a time. */
export interface ArchivedPiece {
  readonly frame: ArchiveFrame;
  readonly bytes: Uint8Array;
}

/**
 * The frames of one kind that hold something of `[from, to)`, which are sequence numbers or bytes of the log. Fails with
 * `segment-expired` when retention has deleted them.
 */
export async function* archivedPieces(
  source: SegmentSource,
  archive: ArchiveRow,
  range: { readonly of: "events" | "log"; readonly from: number; readonly to: number },
): AsyncGenerator<ArchivedPiece> {
  const frames = framesOf(archive).filter(
    (frame) => frame.kind === range.of && frame.first < range.to && frame.first + frame.count > range.from,
  );
  yield* unpackFrames(source, keyOf(archive), frames);
}

/** Where the line begins, in bytes of the log, of which `line` line feeds are before it. */
export async function archivedLineStart(
  source: SegmentSource,
  archive: ArchiveRow,
  line: number,
): Promise<number | undefined> {
  const frame = framesOf(archive).find(
    (one) => one.kind === "log" && one.firstLine < line && one.firstLine + one.lineCount >= line,
  );
  if (frame === undefined) return undefined;
  for await (const { bytes } of unpackFrames(source, keyOf(archive), [frame])) {
    return frame.first + behindLineFeed(bytes, line - frame.firstLine);
  }
  return undefined;
}

const lineFeed = 0x0a;

/** The place behind the nth line feed, the first being 1; the end when there are fewer. */
export function behindLineFeed(bytes: Uint8Array, nth: number): number {
  let at = 0;
  for (let left = nth; left > 0; left -= 1) {
    const found = bytes.indexOf(lineFeed, at);
    if (found === -1) return bytes.length;
    at = found + 1;
  }
  return at;
}

function framesOf(archive: ArchiveRow): ArchiveFrame[] {
  if (archive.expiredAt === null) return decodeArchiveIndex(archive.frames, archive);
  throw new MillraceError({
    remedy: "reject",
    code: "segment-expired",
    message:
      "the events and the log of this build were deleted when the time was over for which the project keeps them",
  });
}

function keyOf(archive: ArchiveRow): string {
  return archiveKey({
    prefix: archive.prefix,
    attempt: archive.attemptId,
    first: archive.firstSeq,
    last: archive.lastSeq,
    digest: Buffer.from(archive.digest).toString("hex"),
  });
}
