import type { Lane } from "@millrace/db/lane";
import { asFailure } from "./failure.ts";

/** What is kept for how long, in days. */
export interface KeptDays {
  /** Dead letters that are settled; open ones stay. */
  readonly letters: number;
  /** Lines of the request log, of requests that have ended. */
  readonly log: number;
}

export interface Pruned {
  readonly letters: number;
  readonly log: number;
}

/** So many rows in one transaction: others wait for no lock of ours for long. */
const batchRows = 1_000;

/** Removes what is older than it is kept. Several processes may do it at once. */
export async function pruneOld(lane: Lane, kept: KeptDays): Promise<Pruned> {
  return {
    letters: await inBatches(lane, oldLetters, kept.letters),
    log: await inBatches(lane, oldLog, kept.log),
  };
}

async function inBatches(lane: Lane, text: string, days: number): Promise<number> {
  for (let all = 0; ; ) {
    const rows = await asFailure(() => lane.transact((tx) => tx.unsafe(text, [days, batchRows])));
    all += rows.length;
    if (rows.length < batchRows) return all;
  }
}

/** $1 days, $2 rows. */
const oldLetters = `
delete from signal_dead_letters where id in (
  select id from signal_dead_letters
  where state <> 'open' and coalesce(settled_at, last_failed_at) < now() - make_interval(days => $1::int)
  order by id limit $2::int for update skip locked)
returning id`;

/** $1 days, $2 rows. */
const oldLog = `
delete from signal_request_log where id in (
  select l.id from signal_request_log l
  where l.at < now() - make_interval(days => $1::int) and not exists (
    select from signal_requests r where r.id = l.request_id and r.state in ('accepted', 'processing'))
  order by l.at limit $2::int for update skip locked)
returning id`;
