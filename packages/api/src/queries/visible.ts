import { invocations } from "@millrace/db/schema/invocations";
import { type AnyColumn, type SQL, sql } from "drizzle-orm";
import type { Viewer } from "../viewer.ts";

/**
 * The restriction that every read of the API carries, on the project column of what it reads.
 * There is no other way from a viewer to rows.
 */
export function visibleTo(viewer: Viewer, projectColumn: AnyColumn): SQL {
  if (viewer.projects === "all") return sql`true`;
  return sql`${projectColumn} = any(${sql.param([...viewer.projects])}::text[])`;
}

/** The same for a table whose rows belong to an attempt and do not name its project. */
export function ofVisibleAttempt(viewer: Viewer, attemptColumn: AnyColumn, attemptId: number): SQL {
  // Not a join: PostgreSQL then keeps the order of the index on (attempt_id, …).
  return sql`(${attemptColumn} = ${attemptId} and exists (
    select 1 from ${invocations}
    where ${invocations.attemptId} = ${attemptId} and ${visibleTo(viewer, invocations.projectId)}))`;
}

/** The same for several attempts. */
export function ofVisibleAttempts(
  viewer: Viewer,
  attemptColumn: AnyColumn,
  attemptIds: readonly number[],
): SQL {
  return sql`${attemptColumn} in (
    select ${invocations.attemptId} from ${invocations}
    where ${invocations.attemptId} = any(${sql.param([...attemptIds])}::bigint[])
      and ${visibleTo(viewer, invocations.projectId)})`;
}
