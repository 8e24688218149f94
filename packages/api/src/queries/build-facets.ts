import type { Query } from "@millrace/base/query/query";
import { invocations } from "@millrace/db/schema/invocations";
import { and, desc, eq, type SQL, sql } from "drizzle-orm";
import type { Viewer } from "../viewer.ts";
import { buildFilter } from "./build-filter.ts";
import { isLatestAttempt } from "./builds.ts";
import { type Orm, read } from "./read.ts";
import { visibleTo } from "./visible.ts";

/** Fields whose values are counted and completed. */
export const facetFields = ["status", "command", "user", "branch", "role", "host", "result", "tool"] as const;
export type FacetField = (typeof facetFields)[number];

const columns = {
  status: invocations.status,
  command: invocations.command,
  user: invocations.user,
  branch: invocations.branch,
  role: invocations.role,
  host: invocations.host,
  result: invocations.exitCodeName,
  tool: invocations.toolVersion,
} as const satisfies Record<FacetField, unknown>;

/** Builds that are looked at: with more, counts are lower bounds. */
export const countedBuildsMax = 10_000;

export interface FacetValue {
  readonly field: FacetField;
  readonly value: string;
  readonly count: number;
}

export interface Facets {
  readonly builds: number;
  /** There are more builds than were counted: every count is a lower bound. */
  readonly isLowerBound: boolean;
  readonly values: readonly FacetValue[];
}

export interface FacetRequest {
  readonly project: string;
  readonly query: Query | undefined;
  readonly nowMs: number;
  readonly fields: readonly FacetField[];
  /** Only values that begin with this, whatever the case of ASCII letters. */
  readonly prefix?: string | undefined;
  /** Values of each field, the most frequent ones. */
  readonly valuesMax: number;
}

/** How often values occur among the newest builds that the query finds, in one statement. */
export async function countFacets(orm: Orm, viewer: Viewer, request: FacetRequest): Promise<Facets> {
  const counted = sql`
    with matching as materialized (${matchingBuilds(orm, viewer, request)})
    select null as field, null as value, count(*)::int as count from matching
    ${sql.join(
      request.fields.map((field) => sql`union all ${valuesOf(field, request)}`),
      sql` `,
    )}`;
  const rows = await read("the facets", () =>
    orm.execute<{ field: FacetField | null; value: string; count: number }>(counted),
  );
  const builds = rows.find((row) => row.field === null)?.count ?? 0;
  const values = rows.flatMap(({ field, value, count }) => (field === null ? [] : [{ field, value, count }]));
  values.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
  return { builds: Math.min(builds, countedBuildsMax), isLowerBound: builds > countedBuildsMax, values };
}

function matchingBuilds(orm: Orm, viewer: Viewer, request: FacetRequest): SQL {
  const { project, query, nowMs } = request;
  return sql`${orm
    .select(columns)
    .from(invocations)
    .where(
      and(
        eq(invocations.projectId, project),
        visibleTo(viewer, invocations.projectId),
        query === undefined ? undefined : buildFilter(query, nowMs),
        isLatestAttempt,
      ),
    )
    .orderBy(desc(invocations.attemptId))
    .limit(countedBuildsMax + 1)}`;
}

function valuesOf(field: FacetField, request: FacetRequest): SQL {
  const column = sql.identifier(columns[field].name);
  const prefix = request.prefix ?? "";
  const begins =
    prefix === ""
      ? sql``
      : sql`and starts_with(lower(${column} collate "C"), lower(${prefix}::text collate "C"))`;
  return sql`(select ${field}, ${column}, count(*)::int from matching where ${column} <> '' ${begins}
    group by ${column} order by count(*) desc, ${column} limit ${request.valuesMax})`;
}
