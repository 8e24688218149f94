import { type InvocationStatus, invocations } from "@millrace/db/schema/invocations";
import { streamPositions } from "@millrace/db/schema/stream-positions";
import { and, desc, eq, sql } from "drizzle-orm";
import type { Viewer } from "../viewer.ts";
import { type Orm, read } from "./read.ts";
import { visibleTo } from "./visible.ts";

/** As much of an attempt as tells whether anything about it changed. */
export interface WatchedState {
  readonly project: string;
  readonly invocationId: string;
  readonly attemptId: number;
  readonly attempt: number;
  readonly status: InvocationStatus;
  readonly lastSequence: number;
}

export interface InvocationName {
  readonly project: string;
  readonly invocationId: string;
}

const shown = {
  project: streamPositions.projectId,
  invocationId: streamPositions.invocationId,
  attemptId: streamPositions.attemptId,
  attempt: streamPositions.attempt,
  status: invocations.status,
  lastSequence: streamPositions.lastEventSeq,
};

/** Latest attempts of all these invocations, in one statement. */
export async function watchedStates(
  orm: Orm,
  viewer: Viewer,
  names: readonly InvocationName[],
): Promise<WatchedState[]> {
  if (names.length === 0) return [];
  const projects = sql.param(names.map((name) => name.project));
  const ids = sql.param(names.map((name) => name.invocationId));
  return read("the watched builds", () =>
    orm
      .selectDistinctOn([streamPositions.projectId, streamPositions.invocationId], shown)
      .from(sql`unnest(${projects}::text[], ${ids}::text[]) watched(project, invocation)`)
      .innerJoin(
        streamPositions,
        sql`${streamPositions.projectId} = watched.project and ${streamPositions.invocationId} = watched.invocation`,
      )
      .innerJoin(invocations, eq(invocations.attemptId, streamPositions.attemptId))
      .where(visibleTo(viewer, streamPositions.projectId))
      .orderBy(streamPositions.projectId, streamPositions.invocationId, desc(streamPositions.attempt)),
  );
}

/** More running builds than this in the watched projects: the newest are looked at. */
export const runningStatesMax = 1_000;

/** What runs in these projects, and what began there after attempt `newest`. */
export async function runningStates(
  orm: Orm,
  viewer: Viewer,
  which: { projects: readonly string[]; newest: number },
): Promise<WatchedState[]> {
  if (which.projects.length === 0) return [];
  return read("the running builds", () =>
    orm
      .select(shown)
      .from(invocations)
      .innerJoin(streamPositions, eq(streamPositions.attemptId, invocations.attemptId))
      .where(
        and(
          sql`(${invocations.status} = 'running' or ${invocations.attemptId} > ${which.newest})`,
          sql`${invocations.projectId} = any(${sql.param([...which.projects])}::text[])`,
          visibleTo(viewer, invocations.projectId),
        ),
      )
      .orderBy(desc(invocations.attemptId))
      .limit(runningStatesMax),
  );
}

/** The newest attempt there is. */
export async function newestAttempt(orm: Orm, viewer: Viewer): Promise<number> {
  const rows = await read("the newest build", () =>
    orm
      .select({ attemptId: invocations.attemptId })
      .from(invocations)
      .where(visibleTo(viewer, invocations.projectId))
      .orderBy(desc(invocations.attemptId))
      .limit(1),
  );
  return rows[0]?.attemptId ?? 0;
}
