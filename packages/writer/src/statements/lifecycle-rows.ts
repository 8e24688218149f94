import type { Lane } from "@millrace/db/lane";
import type { LifecycleState, LifecycleStore } from "../lifecycle.ts";
import { type ColumnStatement, runColumns } from "./column-statement.ts";

const merge: ColumnStatement<LifecycleState> = {
  text: `
insert into lifecycle_events as t (project_id, build_id, invocation_id, component, last_sequence, attempt_number,
  started_at, finished_at, result)
select project_id, build_id, invocation_id, component, last_sequence, attempt_number,
  to_timestamp(started_at_ms / 1000.0), to_timestamp(finished_at_ms / 1000.0), result
from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
    $9::int[])
  l(project_id, build_id, invocation_id, component, last_sequence, attempt_number, started_at_ms, finished_at_ms,
    result)
order by project_id, build_id, invocation_id, component
on conflict (project_id, build_id, invocation_id, component) do update set
  last_sequence = greatest(t.last_sequence, excluded.last_sequence),
  attempt_number = greatest(t.attempt_number, excluded.attempt_number),
  started_at = least(t.started_at, excluded.started_at),
  finished_at = greatest(t.finished_at, excluded.finished_at),
  result = case when t.finished_at is null or excluded.finished_at > t.finished_at
    then coalesce(excluded.result, t.result) else t.result end,
  updated_at = now()`,
  columns: (state) => [
    state.project,
    state.buildId,
    state.invocationId,
    state.component,
    state.lastSequence,
    state.attemptNumber,
    state.startedAtMs,
    state.finishedAtMs,
    state.result,
  ],
};

export function pgLifecycleStore(lane: Lane): LifecycleStore {
  return {
    merge: (states) =>
      lane.transact(async (tx) => {
        await runColumns(tx, merge, states);
      }),
  };
}
