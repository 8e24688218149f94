import type { Executor } from "@millrace/db/connect";
import type { FenceRow, FenceWinner, LockedPosition, Release } from "../store.ts";
import { type AnswerRow, type ColumnStatement, hexOf, runColumns } from "./column-statement.ts";

/** The fence: where each attempt stands, and who may move it. */

const lock: ColumnStatement<number> = {
  text: `
with asked as (
  select unnest($1::bigint[]) as attempt_id
), locked as (
  select p.attempt_id, p.owner, p.last_event_seq, p.finished_at, p.swept_at
  from stream_positions p join asked using (attempt_id)
  order by p.attempt_id
  for update of p skip locked
)
select a.attempt_id, l.attempt_id is not null as locked, encode(l.owner, 'hex') as owner, l.last_event_seq,
  l.finished_at is not null as finished, l.swept_at is not null as swept,
  exists (select from stream_positions p where p.attempt_id = a.attempt_id) as known
from asked a left join locked l using (attempt_id)`,
  columns: (attemptId) => [attemptId],
};

export async function lockPositions(
  executor: Executor,
  attemptIds: readonly number[],
): Promise<LockedPosition[]> {
  const rows = await runColumns(executor, lock, attemptIds);
  return rows.map(positionOf);
}

const advance: ColumnStatement<FenceRow> = {
  text: `
update stream_positions p
set last_event_seq = f.last_seq,
  carry = case when f.carry = '' then p.carry else decode(f.carry, 'hex') end,
  finished_at = case when f.ends = 1 then now() else p.finished_at end,
  swept_at = null
from unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::int[])
  f(attempt_id, owner, first_seq, last_seq, carry, ends)
where p.attempt_id = f.attempt_id
  and p.owner = decode(f.owner, 'hex')
  and p.last_event_seq = f.first_seq - 1
returning p.attempt_id, f.owner`,
  columns: (row) => [row.attemptId, row.owner, row.first, row.last, hexOf(row.carry), row.ends ? 1 : 0],
};

export async function advanceFence(executor: Executor, rows: readonly FenceRow[]): Promise<FenceWinner[]> {
  const winners = await runColumns(executor, advance, rows);
  return winners.map((row) => ({ attemptId: Number(row.attempt_id), owner: String(row.owner) }));
}

export const releaseStreams: ColumnStatement<Release> = {
  text: `
update stream_positions p
set disconnected_at = now()
from unnest($1::bigint[], $2::text[]) r(attempt_id, owner)
where p.attempt_id = r.attempt_id
  and p.owner = decode(r.owner, 'hex')
  and p.disconnected_at is null
  and p.finished_at is null`,
  columns: (one) => [one.attemptId, one.owner],
};

function positionOf(row: AnswerRow): LockedPosition {
  const attemptId = Number(row.attempt_id);
  if (row.locked !== true) return { attemptId, state: row.known === true ? "busy" : "unknown" };
  return {
    attemptId,
    state: "locked",
    position: {
      owner: String(row.owner),
      committed: Number(row.last_event_seq),
      finished: row.finished === true,
      swept: row.swept === true,
    },
  };
}
