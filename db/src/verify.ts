import type { Executor } from "./connect.ts";

/** What is stored of one attempt, read in one snapshot, so that a running build is seen as it stood at one moment. */
export interface StoredAttempt {
  readonly attemptId: number;
  readonly project: string;
  readonly invocationId: string;
  readonly attempt: number;
  readonly lastEventSeq: number;
  /** The end of the stream is committed. */
  readonly isFinished: boolean;
  /** The sweep closed it. */
  readonly isSwept: boolean;
  /** A `Carry` message. */
  readonly carry: Uint8Array | null;
  /** Of its row in `invocations`; null when there is none. */
  readonly status: string | null;
  readonly eventCount: number | null;
  readonly logBytes: number | null;
  readonly logLines: number | null;
  readonly events: StoredPieces;
  readonly log: StoredPieces & { readonly lines: number; readonly linesAreContinuous: boolean };
}

/** Archives of one attempt and segments that none of them covers; for events a recorded hole counts as one. */
export interface StoredPieces {
  /** Last event, or bytes of log. */
  readonly end: number;
  /** The first piece that does not begin where the one before it ended, and where it should. */
  readonly fault: { readonly found: number; readonly expected: number } | null;
}

/** Attempts with an id above `after`, in order of id. */
export async function readStoredAttempts(
  executor: Executor,
  page: { readonly after: number; readonly limit: number },
): Promise<StoredAttempt[]> {
  const rows = await executor.unsafe(attemptsText, [page.after, page.limit]);
  return rows.map((row) => ({
    attemptId: row.attempt_id,
    project: row.project_id,
    invocationId: row.invocation_id,
    attempt: row.attempt,
    lastEventSeq: row.last_event_seq,
    isFinished: row.is_finished,
    isSwept: row.is_swept,
    carry: row.carry,
    status: row.status,
    eventCount: row.event_count,
    logBytes: row.log_bytes,
    logLines: row.log_lines,
    events: { end: row.events_end ?? 0, fault: faultOf(row.events_found, row.events_expected) },
    log: {
      end: row.log_end ?? 0,
      lines: row.log_lines_end ?? 0,
      fault: faultOf(row.log_found, row.log_expected),
      linesAreContinuous: row.lines_are_continuous ?? true,
    },
  }));
}

function faultOf(found: number | null, expected: number | null): StoredPieces["fault"] {
  return found === null || expected === null ? null : { found, expected };
}

const attemptsText = `
with page as materialized (
  select attempt_id, project_id, invocation_id, attempt, last_event_seq, carry,
    finished_at is not null as is_finished, swept_at is not null as is_swept
  from stream_positions where attempt_id > $1 order by attempt_id limit $2
), archived as materialized (
  select attempt_id, first_seq, last_seq, first_byte, byte_count, first_line, line_count
  from archives where attempt_id = any (array(select attempt_id from page))
), event_pieces as (
  select attempt_id, first_seq, last_seq from archived where first_seq <= last_seq
  union all
  select attempt_id, first_seq, last_seq from event_segments s
  where attempt_id = any (array(select attempt_id from page))
    and not exists (select from archived a where a.attempt_id = s.attempt_id
      and a.first_seq <= s.first_seq and a.last_seq >= s.last_seq)
  union all
  select attempt_id, first_seq, last_seq from stream_holes s
  where attempt_id = any (array(select attempt_id from page))
    and not exists (select from archived a where a.attempt_id = s.attempt_id
      and a.first_seq <= s.first_seq and a.last_seq >= s.last_seq)
), log_pieces as (
  select attempt_id, first_byte, byte_count, first_line, line_count from archived where byte_count > 0
  union all
  select attempt_id, first_byte, byte_count, first_line, line_count from log_segments s
  where attempt_id = any (array(select attempt_id from page))
    and not exists (select from archived a where a.attempt_id = s.attempt_id
      and a.first_byte <= s.first_byte and a.first_byte + a.byte_count >= s.first_byte + s.byte_count)
), event_places as (
  select *, coalesce(lag(last_seq) over (partition by attempt_id order by first_seq, last_seq), 0) + 1 as expected
  from event_pieces
), events as (
  select attempt_id, max(last_seq) as events_end,
    (array_agg(first_seq order by first_seq, last_seq) filter (where first_seq <> expected))[1] as events_found,
    (array_agg(expected order by first_seq, last_seq) filter (where first_seq <> expected))[1] as events_expected
  from event_places group by attempt_id
), log_places as (
  select *,
    coalesce(lag(first_byte + byte_count) over earlier, 0) as expected,
    coalesce(lag(first_line + line_count) over earlier, 0) as expected_line
  from log_pieces
  window earlier as (partition by attempt_id order by first_byte, byte_count)
), log as (
  select attempt_id, max(first_byte + byte_count) as log_end, max(first_line + line_count) as log_lines_end,
    (array_agg(first_byte order by first_byte, byte_count) filter (where first_byte <> expected))[1] as log_found,
    (array_agg(expected order by first_byte, byte_count) filter (where first_byte <> expected))[1] as log_expected,
    bool_and(first_line = expected_line) as lines_are_continuous
  from log_places group by attempt_id
)
select page.*, i.status, i.event_count, i.log_bytes, i.log_lines,
  events_end, events_found, events_expected,
  log_end, log_lines_end, log_found, log_expected, lines_are_continuous
from page
left join invocations i using (attempt_id)
left join events using (attempt_id)
left join log using (attempt_id)
order by attempt_id`;

/** Every table whose rows belong to an attempt. */
export const tablesOfAttempts = [
  "action_counts",
  "actions",
  "archives",
  "configurations",
  "fetches",
  "invocation_details",
  "invocation_metrics",
  "invocations",
  "event_segments",
  "log_segments",
  "named_sets",
  "problems",
  "stream_holes",
  "targets",
  "test_progress",
  "test_results",
  "test_summaries",
  "unknowns",
] as const;

/** Rows of a table that belong to no attempt. */
export interface Orphans {
  readonly attemptId: number;
  readonly rows: number;
}

export async function readOrphans(
  executor: Executor,
  of: { readonly table: (typeof tablesOfAttempts)[number]; readonly limit: number },
): Promise<Orphans[]> {
  const rows = await executor.unsafe(
    `select t.attempt_id, count(*) as rows from ${of.table} t
     where not exists (select from stream_positions p where p.attempt_id = t.attempt_id)
     group by t.attempt_id order by t.attempt_id limit $1`,
    [of.limit],
  );
  return rows.map((row) => ({ attemptId: row.attempt_id, rows: row.rows }));
}

/** A segment of events or of log text, with what its content must be. */
export interface StoredSegment {
  readonly attemptId: number;
  /** First sequence number, or first byte. */
  readonly first: number;
  /** Before compression: bytes of the varint-delimited events, or of the text. */
  readonly bytes: number;
  /** Events, or line feeds. */
  readonly count: number;
  /** Undefined when it lies in the blob store. */
  readonly data: Uint8Array | undefined;
  readonly stagedKey: string | undefined;
}

/** Where a reading of segments goes on. */
export interface SegmentPlace {
  readonly attemptId: number;
  readonly first: number;
}

/**
 * Segments behind `after` in order of attempt and place; those that are not in the table only, or all with their data.
 * Empty at the end.
 */
export async function readStoredSegments(
  executor: Executor,
  of: {
    readonly kind: "events" | "log";
    readonly after: SegmentPlace;
    readonly limit: number;
    readonly withData: boolean;
  },
): Promise<StoredSegment[]> {
  const { after, limit, withData } = of;
  const columns =
    of.kind === "events"
      ? "first_seq as first, raw_bytes as bytes, last_seq - first_seq + 1 as count"
      : "first_byte as first, byte_count as bytes, line_count as count";
  const [table, place] =
    of.kind === "events" ? ["event_segments", "first_seq"] : ["log_segments", "first_byte"];
  const rows = await executor.unsafe(
    `select attempt_id, ${columns}, staged_key, ${withData ? "data" : "null::bytea as data"}
     from ${table} where (attempt_id, ${place}) > ($1, $2) ${withData ? "" : "and (staged_key is not null or data is null)"}
     order by attempt_id, ${place} limit $3`,
    [after.attemptId, after.first, limit],
  );
  return rows.map((row) => ({
    attemptId: row.attempt_id,
    first: row.first,
    bytes: row.bytes,
    count: row.count,
    data: row.data ?? undefined,
    stagedKey: row.staged_key ?? undefined,
  }));
}

/** What is no fault but worth knowing. */
export interface StoredNotes {
  readonly deadLetters: number;
  readonly holes: number;
  readonly unpublishedFacts: number;
}

export async function readStoredNotes(executor: Executor): Promise<StoredNotes> {
  const [row] = await executor.unsafe(
    `select (select count(*) from dead_letters) as dead_letters, (select count(*) from stream_holes) as holes,
       (select count(*) from outbox where published_at is null) as unpublished_facts`,
  );
  return {
    deadLetters: row?.dead_letters ?? 0,
    holes: row?.holes ?? 0,
    unpublishedFacts: row?.unpublished_facts ?? 0,
  };
}
