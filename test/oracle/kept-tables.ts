import type { Executor } from "@millrace/db/connect";

// A copy of the database for each test would be simpler; with fsync on it takes seconds on a busy disk.
const tables = [
  ...["stream_positions", "invocations", "event_segments", "log_segments", "targets", "test_results"],
  ...["test_summaries", "dead_letters", "stream_holes", "lifecycle_events"],
];

/** Keeps what the tables hold. */
export async function keepTables(executor: Executor): Promise<void> {
  const copies = tables.map((table) => `create table kept.${table} as table public.${table}`);
  await executor.unsafe(["create schema kept", ...copies].join(";"));
}

/** Makes the tables as they were kept. */
export async function restoreTables(executor: Executor): Promise<void> {
  const columns = await writableColumns(executor);
  const statements = tables.flatMap((table) => {
    const names = columns.get(table) ?? "";
    return [
      `delete from public.${table}`,
      `insert into public.${table} (${names}) overriding system value select ${names} from kept.${table}`,
    ];
  });
  await executor.unsafe(statements.join(";"));
}

/** Of each table all columns but the generated ones, as a list in SQL. */
async function writableColumns(executor: Executor): Promise<ReadonlyMap<string, string>> {
  const rows = await executor.unsafe(`
select c.relname as table, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
from pg_class c join pg_attribute a on a.attrelid = c.oid
where c.relnamespace = 'public'::regnamespace and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
group by c.relname`);
  return new Map(rows.map((row) => [String(row["table"]), String(row["columns"])]));
}
