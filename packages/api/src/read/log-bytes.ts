import { MillraceError } from "@millrace/base/errors";
import type { Orm } from "../queries/read.ts";
import { readLogSegments } from "../queries/segments.ts";
import type { Viewer } from "../viewer.ts";
import { type SegmentSource, segmentBytes } from "./segment-bytes.ts";

/** Segments read from the database at a time: at most 256 KB each before compression, but for staged ones. */
const segmentsAtATime = 32;

/**
 * Log bytes `[from, to)` of an attempt as they were sent, segment by segment: at no time is more than a few segments in
 * memory, however long the log is. Fails when a byte of the range is not stored, so that a reader sees a broken
 * response and never a log with a silent hole.
 */
export async function* logBytes(
  at: SegmentSource & { orm: Orm; viewer: Viewer; attemptId: number },
  range: { from: number; to: number },
): AsyncGenerator<Uint8Array> {
  let position = range.from;
  while (position < range.to) {
    const segments = await readLogSegments(at.orm, at.viewer, {
      attemptId: at.attemptId,
      from: position,
      to: range.to,
      limit: segmentsAtATime,
    });
    const before = position;
    for (const segment of segments) {
      if (segment.firstByte > position) throw missing(position, segment.firstByte);
      const end = segment.firstByte + segment.byteCount;
      if (end <= position) continue;
      const bytes = await segmentBytes(at, segment);
      const piece = bytes.subarray(position - segment.firstByte, Math.min(end, range.to) - segment.firstByte);
      position += piece.length;
      yield piece;
    }
    if (position === before) throw missing(position, range.to);
  }
}

function missing(from: number, to: number): MillraceError {
  return new MillraceError({
    remedy: "retry",
    code: "log-incomplete",
    message: `bytes ${from} to ${to} of this log are not stored`,
  });
}
