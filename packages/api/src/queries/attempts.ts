import { invocations } from "@millrace/db/schema/invocations";
import { streamPositions } from "@millrace/db/schema/stream-positions";
import { Carry } from "@millrace/proto/pipeline";
import { and, desc, eq, type SQL, sql } from "drizzle-orm";
import type { Viewer } from "../viewer.ts";
import { type Orm, read } from "./read.ts";
import { visibleTo } from "./visible.ts";

/** Which attempt of which invocation; without `attempt` the latest. */
export interface AttemptName {
  readonly project: string;
  readonly invocationId: string;
  readonly attempt?: number | undefined;
}

const shown = {
  invocation: invocations,
  lastSequence: streamPositions.lastEventSeq,
  carry: streamPositions.carry,
  streamFinishedAt: streamPositions.finishedAt,
};

/** An attempt as stored, with the position that its stream has reached. */
export interface AttemptRow {
  readonly invocation: typeof invocations.$inferSelect;
  readonly lastSequence: number;
  /** Bytes and line feeds of the log that are committed. */
  readonly logBytes: number;
  readonly logLines: number;
  /** The end of the stream is committed: nothing will be added. */
  readonly complete: boolean;
}

/** All attempts of an invocation that the viewer may see, latest first. */
export async function readAttempts(
  orm: Orm,
  viewer: Viewer,
  name: { project: string; invocationId: string },
): Promise<AttemptRow[]> {
  return selectAttempts(orm, viewer, { where: ofInvocation(name), limit: attemptsMax });
}

/** Undefined when there is no such attempt or the viewer may not see it. */
export async function readAttempt(
  orm: Orm,
  viewer: Viewer,
  name: AttemptName,
): Promise<AttemptRow | undefined> {
  const which = name.attempt === undefined ? sql`true` : eq(streamPositions.attempt, name.attempt);
  const rows = await selectAttempts(orm, viewer, { where: and(ofInvocation(name), which), limit: 1 });
  return rows[0];
}

/** An invocation that was tried more often shows its latest attempts. */
const attemptsMax = 100;

function ofInvocation(name: { project: string; invocationId: string }): SQL | undefined {
  return and(
    eq(streamPositions.projectId, name.project),
    eq(streamPositions.invocationId, name.invocationId),
  );
}

async function selectAttempts(
  orm: Orm,
  viewer: Viewer,
  what: { where: SQL | undefined; limit: number },
): Promise<AttemptRow[]> {
  const rows = await read("an invocation", () =>
    orm
      .select(shown)
      .from(streamPositions)
      .innerJoin(invocations, eq(invocations.attemptId, streamPositions.attemptId))
      .where(and(what.where, visibleTo(viewer, streamPositions.projectId)))
      .orderBy(desc(streamPositions.attempt))
      .limit(what.limit),
  );
  return rows.map(attemptRow);
}

/** What is committed of the log: by the row once the attempt has ended, else by its carry. */
export function attemptRow(row: {
  invocation: typeof invocations.$inferSelect;
  lastSequence: number;
  carry: Uint8Array | null;
  streamFinishedAt: Date | null;
}): AttemptRow {
  const carry = row.carry === null ? undefined : Carry.decode(row.carry);
  return {
    invocation: row.invocation,
    lastSequence: row.lastSequence,
    logBytes: carry?.logBytes ?? row.invocation.logBytes ?? 0,
    logLines: carry?.logLines ?? row.invocation.logLines ?? 0,
    complete: row.streamFinishedAt !== null,
  };
}
