import type { Lane, LaneTransaction } from "@millrace/db/lane";
import { tablesOfAttempts } from "@millrace/db/verify";
import { readArchivesKept, readPrefixes, readStagedOwned } from "@millrace/db/verify-archives";
import {
  archiveNameOf,
  type ExpiredArchive,
  type ExpiredPage,
  type RetentionStore,
} from "../archive/retention-store.ts";
import type { JobLease } from "../jobs.ts";
import type { AnswerRow } from "./column-statement.ts";
import { holdLease } from "./job-leases.ts";

const rawAtOnce = 200;
/** A large build has 100,000 rows: few attempts a transaction, so that none takes long. */
const buildsAtOnce = 20;
const lifecycleAtOnce = 1_000;

/**
 * Attempts are older than their end and their ids follow their age: the first that is younger than the shortest time
 * that any project keeps ends the search.
 */
function candidatesText(days: "raw_days" | "build_days"): string {
  return `
select p.attempt_id, p.opened_at < now() - make_interval(days => d.shortest) as old,
  coalesce(p.finished_at, p.swept_at) < now() - make_interval(days => coalesce(r.${days}, d.shortest)) as expired
from stream_positions p
  left join projects r on r.id = p.project_id
  cross join (select coalesce(min(${days}), 90) as shortest from projects) d
where p.attempt_id > $1 ${days === "raw_days" ? rawOnly : ""}
order by p.attempt_id limit $2`;
}

const rawOnly =
  "and exists (select from archives a where a.attempt_id = p.attempt_id and a.expired_at is null)";

const lockText = `
select attempt_id from stream_positions
where attempt_id = any($1::bigint[]) and coalesce(finished_at, swept_at) is not null
order by attempt_id for update skip locked`;

/** Locks those that are due and still ended; a build that somebody has just resumed is live again. */
async function lockExpired(tx: LaneTransaction, rows: readonly AnswerRow[]): Promise<number[]> {
  const due = rows.filter((row) => row.expired === true).map((row) => Number(row.attempt_id));
  if (due.length === 0) return [];
  const locked = await tx.unsafe(lockText, [due]);
  return locked.map((row) => Number(row.attempt_id));
}

function nextOf(rows: readonly AnswerRow[], limit: number): number | undefined {
  const last = rows.at(-1);
  return rows.length < limit || last?.old !== true ? undefined : Number(last.attempt_id);
}

async function expireRaw(tx: LaneTransaction, after: number): Promise<ExpiredPage> {
  const rows = await tx.unsafe(candidatesText("raw_days"), [after, rawAtOnce]);
  const attemptIds = await lockExpired(tx, rows);
  const expired = await tx.unsafe(
    `update archives set expired_at = now(), frames = ''
     where attempt_id = any($1::bigint[]) and expired_at is null
     returning attempt_id, prefix, first_seq, last_seq, encode(digest, 'hex') as digest`,
    [attemptIds],
  );
  return { archives: expired.map(archiveOf), attempts: attemptIds.length, next: nextOf(rows, rawAtOnce) };
}

async function expireBuilds(tx: LaneTransaction, after: number): Promise<ExpiredPage> {
  const rows = await tx.unsafe(candidatesText("build_days"), [after, buildsAtOnce]);
  const attemptIds = await lockExpired(tx, rows);
  let archives: ExpiredArchive[] = [];
  if (attemptIds.length > 0) {
    const deleted = await tx.unsafe(
      `delete from archives where attempt_id = any($1::bigint[])
       returning attempt_id, prefix, first_seq, last_seq, encode(digest, 'hex') as digest, expired_at is null as kept`,
      [attemptIds],
    );
    archives = deleted.filter((row) => row.kept === true).map(archiveOf);
    for (const table of [...tablesOfAttempts, "dead_letters", "stream_positions"]) {
      if (table === "archives") continue;
      await tx.unsafe(`delete from ${table} where attempt_id = any($1::bigint[])`, [attemptIds]);
    }
  }
  return { archives, attempts: attemptIds.length, next: nextOf(rows, buildsAtOnce) };
}

const lifecycleText = `
delete from lifecycle_events where ctid = any (array(
  select e.ctid from lifecycle_events e join projects r on r.id = e.project_id
  where e.updated_at < now() - make_interval(days => r.build_days) limit $1))
returning 1`;

/** A staged key names the attempt or, before it is known, the connection's owner. */
const lockOwnerText = `
select attempt_id from stream_positions
where (case when $1 ~ '^[0-9]{1,15}$' then attempt_id = $1::bigint else false end)
  or (case when $1 ~ '^([0-9a-f]{2})+$' then owner = decode($1, 'hex') else false end)
for update`;

function archiveOf(row: AnswerRow): ExpiredArchive {
  return {
    prefix: String(row.prefix),
    attemptId: Number(row.attempt_id),
    firstSeq: Number(row.first_seq),
    lastSeq: Number(row.last_seq),
    digest: String(row.digest),
  };
}

export function pgRetentionStore(lane: Lane): RetentionStore {
  const leased = <T>(lease: JobLease, work: (tx: LaneTransaction) => Promise<T>): Promise<T> =>
    lane.transact(async (tx) => {
      await holdLease(tx, lease);
      return work(tx);
    });
  return {
    expireRaw: (after, lease) => leased(lease, (tx) => expireRaw(tx, after)),
    expireBuilds: (after, lease) => leased(lease, (tx) => expireBuilds(tx, after)),
    expireLifecycle: (lease) =>
      leased(lease, async (tx) => (await tx.unsafe(lifecycleText, [lifecycleAtOnce])).length),
    prefixes: () => lane.transact((tx) => readPrefixes(tx)),
    stagedOwned: (keys) => lane.transact((tx) => readStagedOwned(tx, keys)),
    archivesKept: (of) => lane.transact((tx) => readArchivesKept(tx, of)),
    removeUnowned: (key, remove) =>
      lane.transact(async (tx) => {
        await tx.unsafe(lockOwnerText, [key.split("/")[2] ?? ""]);
        const name = archiveNameOf(key);
        const owners =
          name === undefined ? await readStagedOwned(tx, [key]) : await readArchivesKept(tx, [name]);
        if (owners.length > 0) return false;
        await remove();
        return true;
      }),
  };
}
