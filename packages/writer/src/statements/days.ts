import type { Database } from "@millrace/db/connect";
import type { Lane } from "@millrace/db/lane";
import { partitionedTables } from "@millrace/db/partitions";
import type { DayPartition, DayStore, Leftover } from "../archive/day-store.ts";
import type { JobLease } from "../jobs.ts";
import { holdLease } from "./job-leases.ts";

const leftoversAtOnce = 100;
const segmentsMovedAtOnce = 200;
const lockTimeoutMs = 200;

const pastText = `
select * from (
  select t.name as "table", c.relname as name, to_date(right(c.relname, 8), 'YYYYMMDD') as day,
    case when i.inhrelid is null then 'detached' when i.inhdetachpending then 'pending' else 'attached' end as state
  from unnest($1::text[]) t(name)
    join pg_class c on c.relname ~ ('^' || t.name || '_[0-9]{8}$') and c.relkind = 'r'
      and c.relnamespace = (select relnamespace from pg_class where oid = to_regclass(t.name))
    left join pg_inherits i on i.inhrelid = c.oid and i.inhparent = to_regclass(t.name)
) p where day < (now() at time zone 'utc')::date - $2::int order by day, "table"`;

/** What each of the two tables calls its place, and when an archive covers a segment. */
const placeOf = {
  event_segments: {
    columns: "attempt_id, first_seq, last_seq, raw_bytes, data, staged_key",
    first: "first_seq",
    covered: "a.first_seq <= s.first_seq and a.last_seq >= s.last_seq",
  },
  log_segments: {
    columns: "attempt_id, first_byte, byte_count, first_line, line_count, data, staged_key",
    first: "first_byte",
    covered: "a.first_byte <= s.first_byte and a.first_byte + a.byte_count >= s.first_byte + s.byte_count",
  },
} as const;

/** Segments of attempts that are gone are covered by that: nobody asks for them. */
function uncovered(partition: DayPartition): string {
  return `not exists (select from archives a where a.attempt_id = s.attempt_id and ${placeOf[partition.table].covered})`;
}

/**
 * @param database one connection, for what runs outside a transaction or longer than a lane lets it
 * @param lane for what changes rows
 */
export function pgDayStore(database: Database, lane: Lane): DayStore {
  return {
    findPast: async (keepDays) => {
      const rows = await database.sql.unsafe(pastText, [[...partitionedTables], keepDays]);
      return rows.map((row) => ({
        table: row.table,
        name: String(row.name),
        day: new Date(row.day).toISOString().slice(0, 10),
        state: row.state,
      }));
    },
    findLeftovers: (partition, after) => findLeftovers(database, partition, after),
    moveLeftovers: async (partition, { attemptId, lease }) => {
      for (let total = 0; ; ) {
        const moved = await moveSome(lane, { partition, attemptId, lease });
        total += moved;
        if (moved < segmentsMovedAtOnce) return total;
      }
    },
    detach: async ({ table, name, state }) => {
      const how = state === "pending" ? "finalize" : "concurrently";
      await withLockTimeout(database, `alter table ${table} detach partition ${name} ${how}`);
    },
    drop: ({ name }, lease) =>
      lane.transact(async (tx) => {
        await holdLease(tx, lease);
        await tx.unsafe(`set local lock_timeout = ${lockTimeoutMs}`);
        await tx.unsafe(`drop table ${name}`);
      }),
  };
}

async function findLeftovers(
  database: Database,
  partition: DayPartition,
  after: number,
): Promise<Leftover[]> {
  const rows = await database.sql.unsafe(
    `select s.attempt_id, bool_or(coalesce(p.finished_at, p.swept_at) is not null) as ended
     from ${partition.name} s join stream_positions p using (attempt_id)
     where s.attempt_id > $1 and ${uncovered(partition)}
     group by s.attempt_id order by s.attempt_id limit $2`,
    [after, leftoversAtOnce],
  );
  return rows.map((row) => ({ attemptId: Number(row.attempt_id), hasEnded: row.ended === true }));
}

/** Out of the one partition and into the other in one statement: a reader sees each segment once at any moment. */
function moveSome(
  lane: Lane,
  what: { partition: DayPartition; attemptId: number; lease: JobLease },
): Promise<number> {
  const { partition, attemptId, lease } = what;
  const { columns, first } = placeOf[partition.table];
  return lane.transact(async (tx) => {
    await holdLease(tx, lease);
    const rows = await tx.unsafe(
      `with taken as (
         delete from ${partition.name} where ctid = any (array(
           select s.ctid from ${partition.name} s
           where s.attempt_id = $1 and ${uncovered(partition)} order by s.${first} limit $2))
         returning ${columns})
       insert into ${partition.table} (${columns}) select ${columns} from taken returning attempt_id`,
      [attemptId, segmentsMovedAtOnce],
    );
    return rows.length;
  });
}

/** DETACH CONCURRENTLY must stand alone, so that the time limit is the connection's until it is taken back. */
async function withLockTimeout(database: Database, statement: string): Promise<void> {
  await database.sql.unsafe(`set lock_timeout = ${lockTimeoutMs}`);
  try {
    await database.sql.unsafe(statement);
  } finally {
    await database.sql.unsafe("reset lock_timeout").catch(() => {
      // The connection is gone, and its settings with it.
    });
  }
}
