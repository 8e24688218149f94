import type { DeadLetter, OutboxRow } from "../store.ts";
import { type ColumnStatement, hexOf, storableJson } from "./column-statement.ts";

export const appendOutbox: ColumnStatement<OutboxRow> = {
  text: `
insert into outbox (project_id, subject, event)
select project_id, subject, event::jsonb
from unnest($1::text[], $2::text[], $3::text[]) o(project_id, subject, event)`,
  columns: (one) => [one.project, one.subject, storableJson(one.event)],
};

export const appendDeadLetters: ColumnStatement<DeadLetter> = {
  text: `
insert into dead_letters (project_id, invocation_id, attempt_id, first_seq, last_seq, outcome, sql_state, cause, rows)
select project_id, invocation_id, nullif(attempt_id, 0), first_seq, last_seq, outcome, sql_state, cause,
  decode(rows, 'hex')
from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[],
    $9::text[])
  d(project_id, invocation_id, attempt_id, first_seq, last_seq, outcome, sql_state, cause, rows)`,
  columns: (one) => [
    one.key.project,
    one.key.invocationId,
    one.attemptId,
    one.first,
    one.last,
    one.outcome,
    one.sqlState,
    one.cause,
    hexOf(one.rows),
  ],
};
