import type { Executor } from "./connect.ts";
import { partitionedTables } from "./partitions.ts";

/** An archive that is kept, with what must be in it. */
export interface StoredArchive {
  readonly attemptId: number;
  readonly part: number;
  readonly prefix: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly rawBytes: number;
  readonly firstByte: number;
  readonly byteCount: number;
  readonly firstLine: number;
  readonly lineCount: number;
  readonly size: number;
  readonly digest: Uint8Array;
  readonly frames: Uint8Array;
}

/** Archives behind `after` in order; empty at the end. */
export async function readStoredArchives(
  executor: Executor,
  page: { readonly after: { attemptId: number; part: number }; readonly limit: number },
): Promise<StoredArchive[]> {
  const rows = await executor.unsafe(
    `select * from archives where (attempt_id, part) > ($1, $2) and expired_at is null
     order by attempt_id, part limit $3`,
    [page.after.attemptId, page.after.part, page.limit],
  );
  return rows.map((row) => ({
    attemptId: row.attempt_id,
    part: row.part,
    prefix: row.prefix,
    firstSeq: row.first_seq,
    lastSeq: row.last_seq,
    rawBytes: row.raw_bytes,
    firstByte: row.first_byte,
    byteCount: row.byte_count,
    firstLine: row.first_line,
    lineCount: row.line_count,
    size: row.size,
    digest: row.digest,
    frames: row.frames,
  }));
}

/** Key prefixes of all projects. */
export async function readPrefixes(executor: Executor): Promise<string[]> {
  return (await executor.unsafe("select id from projects order by id")).map((row) => row.id);
}

/** Those keys that a segment names. */
export async function readStagedOwned(executor: Executor, keys: readonly string[]): Promise<string[]> {
  const rows = await executor.unsafe(
    `select staged_key from event_segments where staged_key = any($1::text[])
     union all select staged_key from log_segments where staged_key = any($1::text[])`,
    [[...keys]],
  );
  return rows.map((row) => row.staged_key);
}

/** Those archives that have a row and have not expired. */
export async function readArchivesKept(
  executor: Executor,
  of: readonly { readonly attemptId: number; readonly digest: string }[],
): Promise<{ attemptId: number; digest: string }[]> {
  const rows = await executor.unsafe(
    `select a.attempt_id, k.digest
     from unnest($1::bigint[], $2::text[]) k(attempt_id, digest)
       join archives a on a.attempt_id = k.attempt_id and a.digest = decode(k.digest, 'hex') and a.expired_at is null`,
    [of.map((one) => one.attemptId), of.map((one) => one.digest)],
  );
  return rows.map((row) => ({ attemptId: row.attempt_id, digest: row.digest }));
}

/** Partitions of days that should have been dropped, or are half dropped. */
export async function readOverdueDays(executor: Executor, keptDays: number): Promise<string[]> {
  const rows = await executor.unsafe(
    `select c.relname as name
     from unnest($1::text[]) t(name) join pg_class c on c.relname ~ ('^' || t.name || '_[0-9]{8}$') and c.relkind = 'r'
     where c.relnamespace = (select relnamespace from pg_class where oid = to_regclass(t.name))
       and to_date(right(c.relname, 8), 'YYYYMMDD') < (now() at time zone 'utc')::date - $2::int
     order by c.relname`,
    [[...partitionedTables], keptDays],
  );
  return rows.map((row) => row.name);
}
