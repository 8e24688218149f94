import type { Executor } from "@millrace/db/connect";
import type {
  Candidate,
  Hole,
  InsertedAttempt,
  LockedKey,
  NewAttempt,
  StreamKey,
  TakeOver,
} from "../store.ts";
import { type AnswerRow, type ColumnStatement, runColumns } from "./column-statement.ts";

/** Which attempts an invocation has, and whose they are. */

const lock: ColumnStatement<StreamKey> = {
  text: `
with asked as (
  select * from unnest($1::text[], $2::text[]) k(project_id, invocation_id)
), locked as (
  select p.*
  from stream_positions p join asked using (project_id, invocation_id)
  order by p.attempt_id
  for update of p skip locked
)
select k.project_id, k.invocation_id, l.attempt_id, l.attempt, l.build_id, l.last_event_seq, l.carry,
  encode(l.owner, 'hex') as owner,
  coalesce(encode(l.first_event_hmac, 'hex'), '') as hmac,
  l.finished_at is not null as finished, l.swept_at is not null as swept,
  coalesce(l.finished_at > now() - interval '10 minutes', false) as ended_recently,
  l.finished_at is null and l.disconnected_at is null
    and exists (select from nodes n where n.id = l.node_id and n.lease_until > now()) as live,
  (select count(*) from stream_positions p
    where p.project_id = k.project_id and p.invocation_id = k.invocation_id) as known
from asked k left join locked l using (project_id, invocation_id)
order by l.attempt_id`,
  columns: (key) => [key.project, key.invocationId],
};

export async function lockAttempts(executor: Executor, keys: readonly StreamKey[]): Promise<LockedKey[]> {
  const rows = await runColumns(executor, lock, keys);
  return keys.map((key) => {
    const own = rows.filter(
      (row) => row.project_id === key.project && row.invocation_id === key.invocationId,
    );
    const candidates = own.filter((row) => row.attempt_id !== null).map(candidateOf);
    const known = Number(own[0]?.known ?? 0);
    return { key, busy: candidates.length < known, candidates };
  });
}

const insert: ColumnStatement<NewAttempt> = {
  // A key that another transaction is inserting is waited for; all wait in the order of keys, none for more.
  text: `
with asked as (
  select * from unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[])
    a(project_id, invocation_id, attempt, build_id, owner, hmac, node_id)
), inserted as (
  insert into stream_positions (project_id, invocation_id, attempt, build_id, owner, first_event_hmac, node_id)
  select project_id, invocation_id, attempt, build_id, decode(owner, 'hex'), nullif(decode(hmac, 'hex'), ''), node_id
  from asked order by project_id, invocation_id, attempt
  on conflict (project_id, invocation_id, attempt) do nothing
  returning attempt_id, project_id, invocation_id, attempt, build_id
), shown as (
  insert into invocations (attempt_id, project_id, invocation_id, attempt, build_id)
  select attempt_id, project_id, invocation_id, attempt, build_id from inserted
)
select attempt_id, project_id, invocation_id from inserted`,
  columns: (one) => [
    one.key.project,
    one.key.invocationId,
    one.attempt,
    one.buildId,
    one.owner,
    one.hmac,
    one.node,
  ],
};

export async function insertAttempts(
  executor: Executor,
  attempts: readonly NewAttempt[],
): Promise<InsertedAttempt[]> {
  const rows = await runColumns(executor, insert, attempts);
  return rows.map((row) => ({
    key: { project: String(row.project_id), invocationId: String(row.invocation_id) },
    attemptId: Number(row.attempt_id),
  }));
}

export const takeOver: ColumnStatement<TakeOver> = {
  text: `
update stream_positions p
set owner = decode(t.owner, 'hex'), node_id = t.node_id, disconnected_at = null, opened_at = now()
from unnest($1::bigint[], $2::text[], $3::text[]) t(attempt_id, owner, node_id)
where p.attempt_id = t.attempt_id`,
  columns: (one) => [one.attemptId, one.owner, one.node],
};

export const recordHoles: ColumnStatement<Hole> = {
  text: `
with asked as (
  select * from unnest($1::bigint[], $2::bigint[], $3::bigint[]) h(attempt_id, first_seq, last_seq)
), moved as (
  update stream_positions p set last_event_seq = h.last_seq from asked h where p.attempt_id = h.attempt_id
)
insert into stream_holes (attempt_id, first_seq, last_seq) select attempt_id, first_seq, last_seq from asked`,
  columns: (one) => [one.attemptId, one.first, one.last],
};

function candidateOf(row: AnswerRow): Candidate {
  return {
    attemptId: Number(row.attempt_id),
    attempt: Number(row.attempt),
    hmac: String(row.hmac),
    owner: String(row.owner),
    buildId: String(row.build_id),
    committed: Number(row.last_event_seq),
    finished: row.finished === true,
    endedRecently: row.ended_recently === true,
    live: row.live === true,
    swept: row.swept === true,
    carry: row.carry instanceof Uint8Array ? row.carry : new Uint8Array(0),
  };
}
