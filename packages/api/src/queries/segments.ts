import { eventSegments } from "@millrace/db/schema/event-segments";
import { logSegments } from "@millrace/db/schema/log-segments";
import { and, asc, gte, lt, sql } from "drizzle-orm";
import type { Viewer } from "../viewer.ts";
import { type Orm, read } from "./read.ts";
import { ofVisibleAttempt } from "./visible.ts";

/** Where a segment's compressed bytes are: in the row, or in the blob store under `stagedKey`. */
export interface SegmentBytes {
  readonly data: Uint8Array | null;
  readonly stagedKey: string | null;
}

export interface LogSegmentRow extends SegmentBytes {
  readonly firstByte: number;
  readonly byteCount: number;
}

export interface EventSegmentRow extends SegmentBytes {
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/** Up to `limit` log segments that hold bytes of `[from, to)`, in order. */
export async function readLogSegments(
  orm: Orm,
  viewer: Viewer,
  range: { attemptId: number; from: number; to: number; limit: number },
): Promise<LogSegmentRow[]> {
  const { attemptId, firstByte, byteCount, data, stagedKey } = logSegments;
  // The segment in which `from` lies begins at or before it; the index finds its beginning.
  const begin = sql`coalesce((
    select max(s.first_byte) from ${logSegments} s
    where s.attempt_id = ${range.attemptId} and s.first_byte <= ${range.from}), 0)`;
  return read("the log", () =>
    orm
      .select({ firstByte, byteCount, data, stagedKey })
      .from(logSegments)
      .where(
        and(
          ofVisibleAttempt(viewer, attemptId, range.attemptId),
          gte(firstByte, begin),
          lt(firstByte, range.to),
        ),
      )
      .orderBy(asc(firstByte))
      .limit(range.limit),
  );
}

/** Up to `limit` event segments that hold event `from` or a later one, in order. */
export async function readEventSegments(
  orm: Orm,
  viewer: Viewer,
  range: { attemptId: number; from: number; limit: number },
): Promise<EventSegmentRow[]> {
  const { attemptId, firstSeq, lastSeq, data, stagedKey } = eventSegments;
  const begin = sql`coalesce((
    select max(s.first_seq) from ${eventSegments} s
    where s.attempt_id = ${range.attemptId} and s.first_seq <= ${range.from}), 0)`;
  return read("the events", () =>
    orm
      .select({ firstSeq, lastSeq, data, stagedKey })
      .from(eventSegments)
      .where(and(ofVisibleAttempt(viewer, attemptId, range.attemptId), gte(firstSeq, begin)))
      .orderBy(asc(firstSeq))
      .limit(range.limit),
  );
}

/** The last segment with fewer than `line` line feeds before it: if the log has that many, the last of them is in it. */
export async function readLogSegmentOfLine(
  orm: Orm,
  viewer: Viewer,
  of: { attemptId: number; line: number },
): Promise<(LogSegmentRow & { firstLine: number; lineCount: number }) | undefined> {
  const { attemptId, firstByte, byteCount, firstLine, lineCount, data, stagedKey } = logSegments;
  const place = sql`(
    select max(s.first_byte) from ${logSegments} s where s.attempt_id = ${of.attemptId} and s.first_line < ${of.line})`;
  const [row] = await read("the log", () =>
    orm
      .select({ firstByte, byteCount, firstLine, lineCount, data, stagedKey })
      .from(logSegments)
      .where(and(ofVisibleAttempt(viewer, attemptId, of.attemptId), sql`${firstByte} = ${place}`))
      .limit(1),
  );
  return row;
}
