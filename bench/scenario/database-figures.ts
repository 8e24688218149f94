import type { Sql } from "@millrace/db/connect";

/** Where the database's counters stand. */
export interface DatabaseReading {
  /** Position in the write-ahead log in bytes. pg_stat_wal lags up to a second behind it, and misses its page headers. */
  readonly walBytes: number;
  readonly fullPageImages: number;
  /** Transactions since the statistics began; back ends report at most once a second. */
  readonly commits: number;
  readonly checkpoints: number;
}

export async function readDatabase(sql: Sql): Promise<DatabaseReading> {
  const [row] = await sql.unsafe(
    `select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as wal_bytes, wal_fpi,
       (select xact_commit from pg_stat_database where datname = current_database()) as commits,
       (select num_done from pg_stat_checkpointer) as checkpoints
     from pg_stat_wal`,
  );
  return {
    walBytes: Number(row?.["wal_bytes"]),
    fullPageImages: Number(row?.["wal_fpi"]),
    commits: Number(row?.["commits"]),
    checkpoints: Number(row?.["checkpoints"]),
  };
}

export async function forceCheckpoint(sql: Sql): Promise<void> {
  await sql.unsafe("checkpoint");
}

/** Bytes of each table with its indexes, TOAST and partitions. */
export async function tableBytes(sql: Sql): Promise<Record<string, number>> {
  const rows = await sql.unsafe(
    `select coalesce(pg_partition_root(c.oid), c.oid)::regclass::text as name, sum(pg_total_relation_size(c.oid)) as bytes
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname = 'public' group by 1 order by 1`,
  );
  return Object.fromEntries(rows.map(({ name, bytes }) => [String(name), Number(bytes)]));
}

export async function serverVersion(sql: Sql): Promise<string> {
  const [row] = await sql.unsafe("select current_setting('server_version') as version");
  return String(row?.["version"]);
}
