import { MillraceError } from "@millrace/base/errors";
import type { Lane, LaneTransaction } from "@millrace/db/lane";
import { Carry } from "@millrace/proto/pipeline";
import type {
  ArchivePlan,
  ArchiveRow,
  ArchiveStore,
  StoredPiece,
  UnarchivedPage,
} from "../archive/archive-store.ts";
import { type AnswerRow, hexOf } from "./column-statement.ts";
import { holdLease } from "./job-leases.ts";

/** Attempts looked at in one statement. */
const windowAttempts = 5_000;

/** Unpacked bytes of events, and as many of the log, that one archive holds; a larger single segment is alone in one. */
const archiveRawBytesMax = 32 * 1024 * 1024;
const segmentsMax = 4_000;

const findText = `
select p.attempt_id, p.last_event_seq = 0 as empty,
  coalesce(p.finished_at, p.swept_at) < now() - make_interval(secs => $3) as ended,
  exists (select from archives a where a.attempt_id = p.attempt_id and a.last_seq >= p.last_event_seq) as archived
from stream_positions p where p.attempt_id > $1 order by p.attempt_id limit $2`;

async function findUnarchived(
  tx: LaneTransaction,
  how: { after: number; endedForSeconds: number },
): Promise<UnarchivedPage> {
  const rows = await tx.unsafe(findText, [how.after, windowAttempts, how.endedForSeconds]);
  const isDone = (row: AnswerRow): boolean =>
    row.ended === true && (row.archived === true || row.empty === true);
  const open = rows.filter((row) => !isDone(row));
  return {
    attemptIds: open.filter((row) => row.ended === true).map((row) => Number(row.attempt_id)),
    lookedTo: Number(rows.at(-1)?.attempt_id ?? how.after),
    isLast: rows.length < windowAttempts,
    firstOpen: open[0] === undefined ? undefined : Number(open[0].attempt_id),
  };
}

const positionText = `
select p.project_id, p.last_event_seq, p.carry,
  coalesce(max(a.part), 0) as part, coalesce(max(a.last_seq), 0) as archived_seq,
  coalesce(max(a.first_byte + a.byte_count), 0) as archived_bytes,
  coalesce(max(a.first_line + a.line_count), 0) as archived_lines
from stream_positions p left join archives a using (attempt_id)
where p.attempt_id = $1 and coalesce(p.finished_at, p.swept_at) is not null
group by p.attempt_id`;

/** The first segments of a range until there are enough bytes; at least one. */
const eventsText = `
with places as (
  select first_seq, raw_bytes, sum(raw_bytes) over (order by first_seq) - raw_bytes as before
  from (select first_seq, raw_bytes from event_segments
    where attempt_id = $1 and first_seq > $2 and last_seq <= $3 order by first_seq limit $4) s
)
select first_seq as first, last_seq - first_seq + 1 as count, raw_bytes, data, staged_key
from event_segments where attempt_id = $1 and first_seq > $2
  and first_seq <= (select max(first_seq) from places where before = 0 or before + raw_bytes <= $5)
order by first_seq`;

const logText = `
with places as (
  select first_byte, byte_count, sum(byte_count) over (order by first_byte) - byte_count as before
  from (select first_byte, byte_count from log_segments
    where attempt_id = $1 and first_byte >= $2 and first_byte < $3 order by first_byte limit $4) s
)
select first_byte as first, line_count as count, byte_count as raw_bytes, data, staged_key
from log_segments where attempt_id = $1 and first_byte >= $2
  and first_byte <= (select max(first_byte) from places where before = 0 or before + byte_count <= $5)
order by first_byte`;

async function planNext(
  tx: LaneTransaction,
  attemptId: number,
  rawBytesMax: number,
): Promise<ArchivePlan | undefined> {
  const [position] = await tx.unsafe(positionText, [attemptId]);
  if (position === undefined) return undefined;
  const { logBytes } = Carry.decode(
    position.carry instanceof Uint8Array ? position.carry : new Uint8Array(0),
  );
  const [archivedSeq, archivedBytes] = [Number(position.archived_seq), Number(position.archived_bytes)];
  const lastEventSeq = Number(position.last_event_seq);
  const within = [segmentsMax, rawBytesMax];
  const events = await tx.unsafe(eventsText, [attemptId, archivedSeq, lastEventSeq, ...within]);
  const log = await tx.unsafe(logText, [attemptId, archivedBytes, logBytes, ...within]);
  if (events.length === 0 && log.length === 0) return undefined;
  const pieces = { events: events.map(pieceOf), log: log.map(pieceOf) };
  const last = pieces.events.at(-1);
  return {
    project: String(position.project_id),
    attemptId,
    part: Number(position.part) + 1,
    firstSeq: archivedSeq + 1,
    lastSeq: last === undefined ? archivedSeq : last.first + last.count - 1,
    rawBytes: sum(pieces.events, (piece) => piece.rawBytes),
    firstByte: archivedBytes,
    byteCount: sum(pieces.log, (piece) => piece.rawBytes),
    firstLine: Number(position.archived_lines),
    lineCount: sum(pieces.log, (piece) => piece.count),
    ...pieces,
  };
}

function pieceOf(row: AnswerRow): StoredPiece {
  return {
    first: Number(row.first),
    count: Number(row.count),
    rawBytes: Number(row.raw_bytes),
    data: row.data instanceof Uint8Array ? row.data : undefined,
    stagedKey: typeof row.staged_key === "string" ? row.staged_key : undefined,
  };
}

function sum(pieces: readonly StoredPiece[], of: (piece: StoredPiece) => number): number {
  return pieces.reduce((total, piece) => total + of(piece), 0);
}

// The position's row is locked so that retention does not delete the attempt meanwhile.
const insertText = `
insert into archives (attempt_id, part, prefix, first_seq, last_seq, raw_bytes, first_byte, byte_count, first_line,
  line_count, size, digest, frames)
select p.attempt_id, $2::int, $3::text, $4::bigint, $5::bigint, $6::bigint, $7::bigint, $8::bigint, $9::bigint,
  $10::bigint, $11::bigint, decode($12, 'hex'), decode($13, 'hex')
from (select attempt_id from stream_positions where attempt_id = $1 for key share) p
returning attempt_id`;

async function insert(tx: LaneTransaction, row: ArchiveRow): Promise<void> {
  const inserted = await tx.unsafe(insertText, [
    ...[row.attemptId, row.part, row.project, row.firstSeq, row.lastSeq, row.rawBytes],
    ...[row.firstByte, row.byteCount, row.firstLine, row.lineCount, row.size],
    ...[hexOf(row.digest), hexOf(row.frames)],
  ]);
  if (inserted.length > 0) return;
  const message = `attempt ${row.attemptId} was deleted while it was being archived`;
  throw new MillraceError({ remedy: "reject", code: "attempt-gone", message });
}

export function pgArchiveStore(lane: Lane, rawBytesMax = archiveRawBytesMax): ArchiveStore {
  return {
    findUnarchived: (how) => lane.transact((tx) => findUnarchived(tx, how)),
    planNext: (attemptId) => lane.transact((tx) => planNext(tx, attemptId, rawBytesMax)),
    insert: (row, lease) =>
      lane.transact(async (tx) => {
        await holdLease(tx, lease);
        await insert(tx, row);
      }),
  };
}
