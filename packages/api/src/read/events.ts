import { MillraceError } from "@millrace/base/errors";
import { readFrames } from "@millrace/proto/bep/frames";
import type { Orm } from "../queries/read.ts";
import { type EventSegmentRow, readEventSegments } from "../queries/segments.ts";
import type { Viewer } from "../viewer.ts";
import { type SegmentSource, segmentBytes } from "./segment-bytes.ts";

/** Bytes of one `google.devtools.build.v1.BuildEvent` and its sequence number. */
export interface StoredEvent {
  readonly sequence: number;
  readonly bytes: Uint8Array;
}

const segmentsAtATime = 16;
/** Twice the largest event that is received; an event is never longer than its segment. */
const eventBytesMax = 200_000_000;

/**
 * The stored events of an attempt from number `from` on, one segment in memory at a time. Holes that were recorded are
 * passed over: the numbers show them.
 */
export async function* storedEvents(
  at: SegmentSource & { orm: Orm; viewer: Viewer; attemptId: number },
  from: number,
): AsyncGenerator<StoredEvent> {
  let next = from;
  for (;;) {
    const segments = await readEventSegments(at.orm, at.viewer, {
      attemptId: at.attemptId,
      from: next,
      limit: segmentsAtATime,
    });
    const before = next;
    for (const segment of segments) {
      if (segment.lastSeq < next) continue;
      for (const event of await segmentEvents(at, segment)) if (event.sequence >= next) yield event;
      next = segment.lastSeq + 1;
    }
    if (next === before) return;
  }
}

async function segmentEvents(source: SegmentSource, segment: EventSegmentRow): Promise<StoredEvent[]> {
  const bytes = await segmentBytes(source, segment);
  const events: StoredEvent[] = [];
  for await (const frame of readFrames([bytes], { messageBytesMax: eventBytesMax })) {
    if (frame.kind === "broken") throw broken(segment, frame.message);
    events.push({ sequence: segment.firstSeq + events.length, bytes: frame.bytes });
  }
  if (events.length !== segment.lastSeq - segment.firstSeq + 1) {
    throw broken(segment, `It holds ${events.length} events.`);
  }
  return events;
}

function broken(segment: EventSegmentRow, what: string): MillraceError {
  return new MillraceError({
    remedy: "retry",
    code: "segment-broken",
    message: `the stored events ${segment.firstSeq} to ${segment.lastSeq} cannot be read. ${what}`,
  });
}
