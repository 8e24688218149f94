import type { Executor } from "./connect.ts";

/** Tables with one partition a day, by `commit_day`. */
export const partitionedTables = ["event_segments", "log_segments"] as const;

/** Days for which partitions exist in advance. */
export const partitionDaysAhead = 14;

/** A partition's name, e.g. `event_segments_20261201`. */
export function partitionName(table: string, day: string): string {
  return `${table}_${day.replaceAll("-", "")}`;
}

/**
 * Creates what is missing from yesterday to 14 days ahead and tells how many partitions that were. Attached
 * rather than created in place: ATTACH does not lock out readers and writers of the whole table.
 */
export async function ensurePartitions(executor: Executor): Promise<number> {
  const missing = await executor.unsafe(missingText, [[...partitionedTables], partitionDaysAhead]);
  for (const row of missing)
    await createPartition(executor, { table: row.table, from: row.from, to: row.to });
  return missing.length;
}

/** How many days from today on, without a gap, every table has a partition for. */
export async function countDaysAhead(executor: Executor): Promise<number> {
  const [row] = await executor.unsafe(daysAheadText, [[...partitionedTables], 400]);
  return row?.days ?? 0;
}

const missingText = `
select t.name as "table", d::date::text as "from", (d::date + 1)::text as "to"
from unnest($1::text[]) t(name),
     generate_series((now() at time zone 'utc')::date - 1, (now() at time zone 'utc')::date + $2::int, interval '1 day') d
where to_regclass(format('%I', t.name || '_' || to_char(d, 'YYYYMMDD'))) is null
order by t.name, d`;

const daysAheadText = `
select coalesce(min(n), $2::int) as days
from unnest($1::text[]) t(name), generate_series(0, $2::int) n
where to_regclass(format('%I', t.name || '_' || to_char((now() at time zone 'utc')::date + n, 'YYYYMMDD'))) is null`;

async function createPartition(
  executor: Executor,
  partition: { table: string; from: string; to: string },
): Promise<void> {
  const { table, from, to } = partition;
  const name = partitionName(table, from);
  await executor.unsafe(
    `create table ${name} (like ${table} including all);
     alter table ${table} attach partition ${name} for values from ('${from}') to ('${to}')`,
  );
}
