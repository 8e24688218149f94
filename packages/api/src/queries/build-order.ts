import { invocations } from "@millrace/db/schema/invocations";
import { asc, desc, type SQL, sql } from "drizzle-orm";

/** Orders of lists of builds. Those by duration leave out builds that have none. */
export const buildOrders = ["newest", "oldest", "longest", "shortest"] as const;
export type BuildOrder = (typeof buildOrders)[number];

/** Where a page goes on: the duration of the last row before, null in orders by time; and its attempt id. */
export type BuildPlace = readonly [number | null, number];

/** Condition and order of a page. Attempt ids ascend with time; each order is that of an index, read from either end. */
export function orderOf(order: BuildOrder, after: BuildPlace | undefined): { where: SQL; by: SQL[] } {
  const { attemptId, durationMs } = invocations;
  const isBackwards = order === "newest" || order === "longest";
  const direction = isBackwards ? desc : asc;
  const beyond = isBackwards ? sql.raw("<") : sql.raw(">");
  if (order === "newest" || order === "oldest") {
    const where = after === undefined ? sql`true` : sql`${attemptId} ${beyond} ${after[1]}`;
    return { where, by: [direction(attemptId)] };
  }
  const where =
    after === undefined
      ? sql`${durationMs} is not null`
      : sql`(${durationMs} is not null and (${durationMs}, ${attemptId}) ${beyond} (${after[0]}, ${after[1]}))`;
  return { where, by: [direction(durationMs), direction(attemptId)] };
}
