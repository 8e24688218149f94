import { archives } from "@millrace/db/schema/archives";
import { and, asc, eq, sql } from "drizzle-orm";
import type { Viewer } from "../viewer.ts";
import { type Orm, read } from "./read.ts";
import { ofVisibleAttempt } from "./visible.ts";

export type ArchiveRow = typeof archives.$inferSelect;

/** Where in an attempt something is looked for. */
export interface ArchivePlace {
  readonly attemptId: number;
  readonly in: "events" | "log";
  /** A sequence number, or a byte of the log. */
  readonly at: number;
}

/** The archive that holds an event or a byte of the log, if it is in one. */
export async function readArchive(
  orm: Orm,
  viewer: Viewer,
  place: ArchivePlace,
): Promise<ArchiveRow | undefined> {
  const { attemptId, firstSeq, lastSeq, firstByte, byteCount, part } = archives;
  const holds =
    place.in === "events"
      ? sql`${firstSeq} <= ${place.at} and ${lastSeq} >= ${place.at}`
      : sql`${firstByte} <= ${place.at} and ${firstByte} + ${byteCount} > ${place.at}`;
  const [row] = await read("the archive", () =>
    orm
      .select()
      .from(archives)
      .where(and(ofVisibleAttempt(viewer, attemptId, place.attemptId), holds))
      .orderBy(asc(part))
      .limit(1),
  );
  return row;
}

/** The archive in which line `line` of the log begins, if it is in one; lines are counted from 0. */
export async function readArchiveOfLine(
  orm: Orm,
  viewer: Viewer,
  of: { attemptId: number; line: number },
): Promise<ArchiveRow | undefined> {
  const { attemptId, firstLine, lineCount, byteCount, part } = archives;
  const [row] = await read("the archive", () =>
    orm
      .select()
      .from(archives)
      .where(
        and(
          ofVisibleAttempt(viewer, attemptId, of.attemptId),
          sql`${byteCount} > 0 and ${firstLine} < ${of.line} and ${firstLine} + ${lineCount} >= ${of.line}`,
          eq(attemptId, of.attemptId),
        ),
      )
      .orderBy(asc(part))
      .limit(1),
  );
  return row;
}
