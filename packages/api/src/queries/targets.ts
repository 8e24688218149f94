import { targets } from "@millrace/db/schema/targets";
import { and, asc, inArray, type SQL, sql } from "drizzle-orm";
import type { Viewer } from "../viewer.ts";
import { type LabelFilter, labelFilter } from "./label-filter.ts";
import { type Orm, read } from "./read.ts";
import { ofVisibleAttempt } from "./visible.ts";

export type TargetRow = typeof targets.$inferSelect;

/** Where a page of targets goes on: label, aspect and configuration of the last row before. */
export type TargetPlace = readonly [string, string, string];

/**
 * Targets of one attempt by label, aspect and configuration.
 *
 * @param page.statuses indexes into `targetStatuses`
 */
export async function listTargets(
  orm: Orm,
  viewer: Viewer,
  page: {
    attemptId: number;
    filter: LabelFilter;
    statuses: readonly number[] | undefined;
    after: TargetPlace | undefined;
    limit: number;
  },
): Promise<TargetRow[]> {
  const { label, aspect, configuration } = targets;
  return read("the targets", () =>
    orm
      .select()
      .from(targets)
      .where(
        and(
          ofVisibleAttempt(viewer, targets.attemptId, page.attemptId),
          labelFilter(label, page.filter),
          page.statuses === undefined ? undefined : inArray(targets.status, [...page.statuses]),
          page.after === undefined ? undefined : behind(page.after),
        ),
      )
      .orderBy(asc(label), asc(aspect), asc(configuration))
      .limit(page.limit),
  );
}

function behind(after: TargetPlace): SQL {
  return sql`(${targets.label}, ${targets.aspect}, ${targets.configuration}) > (${after[0]}, ${after[1]}, ${after[2]})`;
}
