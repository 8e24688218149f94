import type { Lane, LaneTransaction } from "@millrace/db/lane";
import { Carry } from "@millrace/proto/pipeline";
import type { JobLease } from "../jobs.ts";
import type { AttemptSummary, InvocationEnd, OutboxRow } from "../store.ts";
import type { SilentAttempt, SweepStore } from "../sweep.ts";
import { type AnswerRow, type ColumnStatement, runColumns } from "./column-statement.ts";
import { endInvocationsText, summaryOf } from "./invocation-rows.ts";
import { holdLease } from "./job-leases.ts";
import { appendOutbox } from "./letters.ts";

/**
 * The node went away without a word; what it reported closed has its own time. An open is as good as a lease that
 * was renewed then.
 */
const leaseIsOver = `(p.disconnected_at is null and p.opened_at < now() - interval '30 seconds'
    and not exists (select from nodes n where n.id = p.node_id and n.lease_until > now()))`;

const findText = `
select p.attempt_id, encode(p.owner, 'hex') as owner, p.last_event_seq
from invocations i join stream_positions p using (attempt_id)
where i.status = 'running' and p.finished_at is null and p.swept_at is null
  and (p.disconnected_at < now() - make_interval(secs => $1) or ${leaseIsOver})
order by p.attempt_id limit $2`;

const close: ColumnStatement<SilentAttempt> = {
  text: `
update stream_positions p set swept_at = now()
from unnest($1::bigint[], $2::text[], $3::bigint[]) s(attempt_id, owner, last_event_seq)
where p.attempt_id = s.attempt_id
  and p.owner = decode(s.owner, 'hex') and p.last_event_seq = s.last_event_seq
  and p.finished_at is null and p.swept_at is null
  and (p.disconnected_at is not null or ${leaseIsOver})
returning p.attempt_id, p.last_event_seq, p.carry`,
  columns: (one) => [one.attemptId, one.owner, one.committed],
};

const end: ColumnStatement<InvocationEnd> = {
  text: endInvocationsText("disconnected"),
  columns: (one) => [one.attemptId, one.eventCount, one.logBytes, one.logLines],
};

export function pgSweepStore(lane: Lane): SweepStore {
  return {
    findSilent: (settings) =>
      lane.transact(async (tx) => {
        const rows = await tx.unsafe(findText, [settings.closedForSeconds, settings.limit]);
        return rows.map((row) => ({
          attemptId: Number(row.attempt_id),
          owner: String(row.owner),
          committed: Number(row.last_event_seq),
        }));
      }),
    closeSilent: (silent, how) => lane.transact((tx) => closeSilent(tx, silent, how)),
  };
}

async function closeSilent(
  tx: LaneTransaction,
  silent: readonly SilentAttempt[],
  how: { lease: JobLease; fact: (about: AttemptSummary) => OutboxRow },
): Promise<AttemptSummary[]> {
  await holdLease(tx, how.lease);
  const closed = await runColumns(tx, close, silent);
  if (closed.length === 0) return [];
  const summaries = (await runColumns(tx, end, closed.map(endOf))).map(summaryOf);
  await runColumns(tx, appendOutbox, summaries.map(how.fact));
  return summaries;
}

function endOf(row: AnswerRow): InvocationEnd {
  const carry = Carry.decode(row.carry instanceof Uint8Array ? row.carry : new Uint8Array(0));
  return {
    attemptId: Number(row.attempt_id),
    eventCount: Number(row.last_event_seq),
    logBytes: carry.logBytes,
    logLines: carry.logLines,
  };
}
