import type { ICarry } from "@millrace/proto/pipeline";
import type { EventSink } from "../project/projector.ts";
import { RowsBuilder } from "../project/rows-builder.ts";
import type { BatchContent, ProjectedLarge } from "./effects.ts";

/** Where the log stands before the batch. */
export interface LogPosition {
  readonly bytes: number;
  readonly lines: number;
}

/** Collects consecutive projected events until the batch is sealed. */
export class BatchBuilder implements EventSink {
  readonly rows: RowsBuilder;
  readonly first: number;
  last: number;
  private readonly start: LogPosition;
  private readonly events: Uint8Array[] = [];
  private readonly logChunks: Uint8Array[] = [];
  private eventBytes = 0;
  private logBytes = 0;
  private logLines = 0;
  /** The end of the stream is among the events: nothing may follow it. */
  endsStream = false;
  private undecoded = 0;

  constructor(first: number, log: LogPosition) {
    this.first = first;
    this.last = first - 1;
    this.start = log;
    this.rows = new RowsBuilder(first);
  }

  event(bytes: Uint8Array, facts: { endsStream: boolean; undecoded: boolean }): void {
    const prefix = varint(bytes.length);
    this.events.push(prefix, bytes);
    this.eventBytes += prefix.length + bytes.length;
    this.last += 1;
    this.rows.sequence = this.last + 1;
    if (facts.endsStream) this.endsStream = true;
    if (facts.undecoded) this.undecoded += 1;
  }

  log(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.logChunks.push(bytes);
    this.logBytes += bytes.length;
    this.logLines += countLineFeeds(bytes);
  }

  get count(): number {
    return this.last - this.first + 1;
  }

  get bytes(): number {
    return this.eventBytes + this.logBytes;
  }

  /** Where the log stands after the batch. */
  get logEnd(): LogPosition {
    return { bytes: this.start.bytes + this.logBytes, lines: this.start.lines + this.logLines };
  }

  seal(how: { carry: { scrub: Uint8Array; finishSeen: boolean }; opens: boolean }): BatchContent {
    const changedLabels = this.rows.changedLabels();
    return {
      first: this.first,
      last: this.last,
      events: this.events,
      eventBytes: this.eventBytes,
      log: this.logChunks,
      logFirstByte: this.start.bytes,
      logBytes: this.logBytes,
      logFirstLine: this.start.lines,
      logLines: this.logLines,
      rows: this.rows.take(),
      changedLabels,
      carry: carryAt(this.logEnd, how.carry),
      endsStream: this.endsStream,
      undecoded: this.undecoded,
      opens: how.opens,
    };
  }
}

/** A batch of one event that a task projected and compressed. */
export function largeBatch(
  large: ProjectedLarge,
  how: { log: LogPosition; opens: boolean },
): { batch: BatchContent; logEnd: LogPosition } {
  const { bodies, sequence } = large;
  const logBytes = bodies.log?.rawBytes ?? 0;
  const logEnd = { bytes: how.log.bytes + logBytes, lines: how.log.lines + large.logLines };
  return {
    logEnd,
    batch: {
      first: sequence,
      last: sequence,
      events: [],
      eventBytes: bodies.events.rawBytes,
      log: [],
      logFirstByte: how.log.bytes,
      logBytes,
      logFirstLine: how.log.lines,
      logLines: large.logLines,
      rows: large.rows,
      changedLabels: large.changedLabels,
      carry: carryAt(logEnd, large),
      endsStream: large.endsStream,
      undecoded: large.undecoded ? 1 : 0,
      opens: how.opens,
      sealed: bodies,
    },
  };
}

function carryAt(log: LogPosition, detector: { scrub: Uint8Array; finishSeen: boolean }): ICarry {
  return {
    logBytes: log.bytes,
    logLines: log.lines,
    scrub: detector.scrub,
    finishSeen: detector.finishSeen,
  };
}

/** Line feeds in `bytes`; a line's end is what `log_segments` counts by. */
export function countLineFeeds(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
}

/** The length prefix of an event in a segment. */
export function varint(value: number): Uint8Array {
  if (value < 0x80) return Uint8Array.of(value);
  if (value < 0x4000) return Uint8Array.of((value & 0x7f) | 0x80, value >>> 7);
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) {
      bytes.push(rest);
      return Uint8Array.from(bytes);
    }
    bytes.push((rest % 128) | 0x80);
  }
}
