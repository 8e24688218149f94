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
  const statements = tables.flatMap((table) => [
    `delete from public.${table}`,
    `insert into public.${table} overriding system value table kept.${table}`,
  ]);
  await executor.unsafe(statements.join(";"));
}
