import type { Query } from "@millrace/base/query/query";
import { type InvocationStatus, invocations } from "@millrace/db/schema/invocations";
import { streamPositions } from "@millrace/db/schema/stream-positions";
import { and, desc, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { Viewer } from "../viewer.ts";
import { type AttemptRow, attemptRow } from "./attempts.ts";
import { buildFilter } from "./build-filter.ts";
import { type BuildOrder, type BuildPlace, orderOf } from "./build-order.ts";
import { type Orm, read } from "./read.ts";
import { visibleTo } from "./visible.ts";

export interface BuildFilter {
  readonly statuses?: readonly InvocationStatus[] | undefined;
  readonly commands?: readonly string[] | undefined;
  readonly users?: readonly string[] | undefined;
  /** Beside all of these; relative times are counted from `nowMs`. */
  readonly query?: Query | undefined;
  readonly nowMs: number;
}

const shown = {
  invocation: invocations,
  lastSequence: streamPositions.lastEventSeq,
  carry: streamPositions.carry,
  streamFinishedAt: streamPositions.finishedAt,
};

/** One row per invocation, its latest attempt; those behind `after` in this order. */
export async function listBuilds(
  orm: Orm,
  viewer: Viewer,
  page: {
    project: string;
    filter: BuildFilter;
    order: BuildOrder;
    after: BuildPlace | undefined;
    limit: number;
  },
): Promise<AttemptRow[]> {
  const order = orderOf(page.order, page.after);
  const where = and(eq(invocations.projectId, page.project), filterOf(page.filter), order.where);
  return selectBuilds(orm, viewer, { where, by: order.by, limit: page.limit });
}

/** The latest attempts of some invocations of one project. */
export async function readBuilds(
  orm: Orm,
  viewer: Viewer,
  which: { project: string; invocationIds: readonly string[] },
): Promise<AttemptRow[]> {
  if (which.invocationIds.length === 0) return [];
  // By the key of the positions, which the invocations do not have.
  const attempts = sql`${invocations.attemptId} in (
    select ${streamPositions.attemptId} from ${streamPositions}
    where ${streamPositions.projectId} = ${which.project}
      and ${streamPositions.invocationId} = any(${sql.param([...which.invocationIds])}::text[]))`;
  return selectBuilds(orm, viewer, {
    where: attempts,
    by: [desc(invocations.attemptId)],
    limit: which.invocationIds.length,
  });
}

/** Projects, among those the viewer may see, that hold an invocation of this id. */
export async function projectsOfInvocation(
  orm: Orm,
  viewer: Viewer,
  invocationId: string,
): Promise<string[]> {
  const rows = await read("an invocation", () =>
    orm
      .selectDistinct({ project: streamPositions.projectId })
      .from(streamPositions)
      .where(
        and(eq(streamPositions.invocationId, invocationId), visibleTo(viewer, streamPositions.projectId)),
      )
      .orderBy(streamPositions.projectId)
      .limit(100),
  );
  return rows.map((row) => row.project);
}

function filterOf(filter: BuildFilter): SQL | undefined {
  return and(
    filter.statuses === undefined ? undefined : inArray(invocations.status, [...filter.statuses]),
    filter.commands === undefined ? undefined : inArray(invocations.command, [...filter.commands]),
    filter.users === undefined ? undefined : inArray(invocations.user, [...filter.users]),
    filter.query === undefined ? undefined : buildFilter(filter.query, filter.nowMs),
  );
}

async function selectBuilds(
  orm: Orm,
  viewer: Viewer,
  what: { where: SQL | undefined; by: readonly SQL[]; limit: number },
): Promise<AttemptRow[]> {
  const rows = await read("the builds", () =>
    orm
      .select(shown)
      .from(invocations)
      .innerJoin(streamPositions, eq(streamPositions.attemptId, invocations.attemptId))
      .where(and(what.where, visibleTo(viewer, invocations.projectId), isLatestAttempt))
      .orderBy(...what.by)
      .limit(what.limit),
  );
  return rows.map(attemptRow);
}

/** Lists show an invocation once. */
export const isLatestAttempt = sql`not exists (
  select 1 from ${streamPositions} later
  where later.project_id = ${invocations.projectId}
    and later.invocation_id = ${invocations.invocationId}
    and later.attempt > ${invocations.attempt})`;
