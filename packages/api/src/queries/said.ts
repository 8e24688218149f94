import { actionCounts } from "@millrace/db/schema/action-counts";
import { actions } from "@millrace/db/schema/actions";
import { configurations } from "@millrace/db/schema/configurations";
import { fetches } from "@millrace/db/schema/fetches";
import { invocationDetails } from "@millrace/db/schema/invocation-details";
import { invocationMetrics } from "@millrace/db/schema/invocation-metrics";
import { problems } from "@millrace/db/schema/problems";
import { unknowns } from "@millrace/db/schema/unknowns";
import { and, asc, gt } from "drizzle-orm";
import type { Viewer } from "../viewer.ts";
import { type Orm, read } from "./read.ts";
import { ofVisibleAttempt } from "./visible.ts";

/** What Bazel says of a build beyond its targets and tests, one attempt at a time. */

export type ActionRow = typeof actions.$inferSelect;
export type ActionCountRow = typeof actionCounts.$inferSelect;
export type ConfigurationRow = typeof configurations.$inferSelect;
export type ProblemRow = typeof problems.$inferSelect;
export type FetchRow = typeof fetches.$inferSelect;
export type UnknownRow = typeof unknowns.$inferSelect;
export type DetailsRow = typeof invocationDetails.$inferSelect;
export type MetricsRow = typeof invocationMetrics.$inferSelect;

/** Lists that come whole end here; a build with more says so by their length. */
export const wholeListMax = 1_000;

/** Actions that have rows of their own, in the order of their events. */
export function listActions(
  orm: Orm,
  viewer: Viewer,
  page: { attemptId: number; after: number; limit: number },
): Promise<ActionRow[]> {
  return read("the actions", () =>
    orm
      .select()
      .from(actions)
      .where(
        and(ofVisibleAttempt(viewer, actions.attemptId, page.attemptId), gt(actions.sequence, page.after)),
      )
      .orderBy(asc(actions.sequence))
      .limit(page.limit),
  );
}

export function listActionCounts(orm: Orm, viewer: Viewer, attemptId: number): Promise<ActionCountRow[]> {
  return read("the counts of actions", () =>
    orm
      .select()
      .from(actionCounts)
      .where(ofVisibleAttempt(viewer, actionCounts.attemptId, attemptId))
      .orderBy(asc(actionCounts.mnemonic))
      .limit(wholeListMax),
  );
}

export async function readMetricsRow(
  orm: Orm,
  viewer: Viewer,
  attemptId: number,
): Promise<MetricsRow | undefined> {
  const [row] = await read("the metrics", () =>
    orm
      .select()
      .from(invocationMetrics)
      .where(ofVisibleAttempt(viewer, invocationMetrics.attemptId, attemptId)),
  );
  return row;
}

/** Everything that the details of a build are made of. */
export interface DetailRows {
  readonly details: DetailsRow | undefined;
  readonly configurations: readonly ConfigurationRow[];
  readonly problems: readonly ProblemRow[];
  readonly fetches: readonly FetchRow[];
  readonly unknowns: readonly UnknownRow[];
}

export async function readDetailRows(orm: Orm, viewer: Viewer, attemptId: number): Promise<DetailRows> {
  const [details, configurationRows, problemRows, fetchRows, unknownRows] = await read("the details", () =>
    Promise.all([
      orm
        .select()
        .from(invocationDetails)
        .where(ofVisibleAttempt(viewer, invocationDetails.attemptId, attemptId)),
      orm
        .select()
        .from(configurations)
        .where(ofVisibleAttempt(viewer, configurations.attemptId, attemptId))
        .orderBy(asc(configurations.id))
        .limit(wholeListMax),
      orm
        .select()
        .from(problems)
        .where(ofVisibleAttempt(viewer, problems.attemptId, attemptId))
        .orderBy(asc(problems.sequence))
        .limit(wholeListMax),
      orm
        .select()
        .from(fetches)
        .where(ofVisibleAttempt(viewer, fetches.attemptId, attemptId))
        .orderBy(asc(fetches.sequence))
        .limit(wholeListMax),
      orm
        .select()
        .from(unknowns)
        .where(ofVisibleAttempt(viewer, unknowns.attemptId, attemptId))
        .orderBy(asc(unknowns.what))
        .limit(wholeListMax),
    ]),
  );
  return {
    details: details[0],
    configurations: configurationRows,
    problems: problemRows,
    fetches: fetchRows,
    unknowns: unknownRows,
  };
}
