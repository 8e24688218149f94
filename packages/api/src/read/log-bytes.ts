import { MillraceError } from "@millrace/base/errors";
import { type ArchiveRow, readArchive, readArchiveOfLine } from "../queries/archives.ts";
import type { Orm } from "../queries/read.ts";
import { readLogSegmentOfLine, readLogSegments } from "../queries/segments.ts";
import type { Viewer } from "../viewer.ts";
import { archivedLineStart, archivedPieces, behindLineFeed } from "./archived.ts";
import { type SegmentSource, segmentBytes } from "./segment-bytes.ts";

/** Segments read from the database at a time: at most 256 KB each before compression, but for staged ones. */
const segmentsAtATime = 32;

/**
 * Log bytes `[from, to)` of an attempt as they were sent, from its archives or segment by segment: at no time is more
 * than a few segments in memory, however long the log is. Fails when a byte of the range is not stored, so that a reader
 * sees a broken response and never a log with a silent hole.
 */
export async function* logBytes(
  at: LogSource,
  range: { from: number; to: number },
): AsyncGenerator<Uint8Array> {
  let position = range.from;
  for (let lookedInVain = false; position < range.to; ) {
    const before = position;
    const rest = { from: position, to: range.to };
    const archive = await readArchive(at.orm, at.viewer, {
      attemptId: at.attemptId,
      in: "log",
      at: position,
    });
    const pieces = archive === undefined ? segmentPieces(at, rest) : archivePieces(at, archive, rest);
    for await (const piece of pieces) {
      position += piece.length;
      yield piece;
    }
    // Segments that were dropped between the two reads are in an archive by now.
    if (position === before && lookedInVain) throw missing(position, range.to);
    lookedInVain = position === before;
  }
}

/** Whose log, and who asks. */
type LogSource = SegmentSource & { orm: Orm; viewer: Viewer; attemptId: number };

async function* archivePieces(
  at: LogSource,
  archive: ArchiveRow,
  range: { from: number; to: number },
): AsyncGenerator<Uint8Array> {
  for await (const { frame, bytes } of archivedPieces(at, archive, { of: "log", ...range })) {
    yield bytes.subarray(Math.max(0, range.from - frame.first), range.to - frame.first);
  }
}

/** Some segments, up to the first hole. */
async function* segmentPieces(
  at: LogSource,
  range: { from: number; to: number },
): AsyncGenerator<Uint8Array> {
  const { attemptId } = at;
  const segments = await readLogSegments(at.orm, at.viewer, { attemptId, ...range, limit: segmentsAtATime });
  let position = range.from;
  for (const segment of segments) {
    if (segment.firstByte > position) return;
    const end = segment.firstByte + segment.byteCount;
    if (end <= position) continue;
    const bytes = await segmentBytes(at, segment);
    yield bytes.subarray(position - segment.firstByte, Math.min(end, range.to) - segment.firstByte);
    position = Math.min(end, range.to);
  }
}

/**
 * The byte at which a line begins, lines counted from 0: one look into an index, then one segment is unpacked. Undefined
 * when the log has no such line yet.
 */
export async function lineStart(at: LogSource, line: number): Promise<number | undefined> {
  if (line === 0) return 0;
  const of = { attemptId: at.attemptId, line };
  const archive = await readArchiveOfLine(at.orm, at.viewer, of);
  if (archive !== undefined) return archivedLineStart(at, archive, line);
  const segment = await readLogSegmentOfLine(at.orm, at.viewer, of);
  if (segment === undefined || segment.firstLine + segment.lineCount < line) return undefined;
  return segment.firstByte + behindLineFeed(await segmentBytes(at, segment), line - segment.firstLine);
}

function missing(from: number, to: number): MillraceError {
  return new MillraceError({
    remedy: "retry",
    code: "log-incomplete",
    message: `bytes ${from} to ${to} of this log are not stored`,
  });
}
