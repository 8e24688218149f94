import { MillraceError } from "@millrace/base/errors";
import { readFrames } from "@millrace/proto/bep/frames";
import { type ArchiveRow, readArchive } from "../queries/archives.ts";
import type { Orm } from "../queries/read.ts";
import { type EventSegmentRow, readEventSegments } from "../queries/segments.ts";
import type { Viewer } from "../viewer.ts";
import { archivedPieces } from "./archived.ts";
import { type SegmentSource, segmentBytes } from "./segment-bytes.ts";

/** Bytes of one `google.devtools.build.v1.BuildEvent` and its sequence number. */
export interface StoredEvent {
  readonly sequence: number;
  readonly bytes: Uint8Array;
}

const segmentsAtATime = 16;
/** Twice the largest event that is received; an event is never longer than its segment. */
const eventBytesMax = 200_000_000;

type EventSource = SegmentSource & { orm: Orm; viewer: Viewer; attemptId: number };

/**
 * The stored events of an attempt from number `from` on, one segment or frame of an archive in memory at a time. Holes
 * that were recorded are passed over: the numbers show them.
 */
export async function* storedEvents(at: EventSource, from: number): AsyncGenerator<StoredEvent> {
  const { orm, viewer, attemptId } = at;
  for (let next = from; ; ) {
    const archive = await readArchive(orm, viewer, { attemptId, in: "events", at: next });
    if (archive !== undefined) {
      yield* archivedEvents(at, archive, next);
      next = archive.lastSeq + 1;
      continue;
    }
    const segments = await readEventSegments(orm, viewer, { attemptId, from: next, limit: segmentsAtATime });
    const before = next;
    for (const segment of segments) {
      if (segment.lastSeq < next) continue;
      // A hole, or segments that were dropped between the two reads: those are in an archive by now.
      if (segment.firstSeq > next && (await readArchive(orm, viewer, { attemptId, in: "events", at: next })))
        break;
      for (const event of await segmentEvents(at, segment)) if (event.sequence >= next) yield event;
      next = segment.lastSeq + 1;
    }
    if (next > before) continue;
    if ((await readArchive(orm, viewer, { attemptId, in: "events", at: next })) === undefined) return;
  }
}

async function* archivedEvents(
  at: EventSource,
  archive: ArchiveRow,
  from: number,
): AsyncGenerator<StoredEvent> {
  const to = archive.lastSeq + 1;
  for await (const { frame, bytes } of archivedPieces(at, archive, { of: "events", from, to })) {
    const place = { firstSeq: frame.first, lastSeq: frame.first + frame.count - 1 };
    for (const event of await eventsIn(bytes, place)) if (event.sequence >= from) yield event;
  }
}

async function segmentEvents(source: SegmentSource, segment: EventSegmentRow): Promise<StoredEvent[]> {
  return eventsIn(await segmentBytes(source, segment), segment);
}

interface Place {
  readonly firstSeq: number;
  readonly lastSeq: number;
}

async function eventsIn(bytes: Uint8Array, place: Place): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const frame of readFrames([bytes], { messageBytesMax: eventBytesMax })) {
    if (frame.kind === "broken") throw broken(place, frame.message);
    events.push({ sequence: place.firstSeq + events.length, bytes: frame.bytes });
  }
  if (events.length !== place.lastSeq - place.firstSeq + 1) {
    throw broken(place, `It holds ${events.length} events.`);
  }
  return events;
}

function broken(segment: Place, what: string): MillraceError {
  return new MillraceError({
    remedy: "retry",
    code: "segment-broken",
    message: `the stored events ${segment.firstSeq} to ${segment.lastSeq} cannot be read. ${what}`,
  });
}
