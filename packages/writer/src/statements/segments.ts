import type { Executor } from "@millrace/db/connect";
import type { EventSegmentRow, LogSegmentRow, NamedSetBlockRow } from "../store.ts";
import { type BinaryField, copyBinary } from "./copy-binary.ts";

const eventsText =
  "copy event_segments (attempt_id, first_seq, last_seq, raw_bytes, data, staged_key) from stdin (format binary)";

export function writeEventSegments(executor: Executor, segments: readonly EventSegmentRow[]): Promise<void> {
  const rows = segments.map((one) => [
    int8(one.attemptId),
    int8(one.firstSeq),
    int8(one.lastSeq),
    int8(one.rawBytes),
    ...whereBytesLie(one),
  ]);
  return copyBinary(executor, { text: eventsText, rows });
}

const logText =
  "copy log_segments (attempt_id, first_byte, byte_count, first_line, line_count, data, staged_key) " +
  "from stdin (format binary)";

export function writeLogSegments(executor: Executor, segments: readonly LogSegmentRow[]): Promise<void> {
  const rows = segments.map((one) => [
    int8(one.attemptId),
    int8(one.firstByte),
    int8(one.byteCount),
    int8(one.firstLine),
    int8(one.lineCount),
    ...whereBytesLie(one),
  ]);
  return copyBinary(executor, { text: logText, rows });
}

const namedSetsText =
  "copy named_sets (attempt_id, first_seq, part, set_count, file_count, raw_bytes, first_id, last_id, cut, data) " +
  "from stdin (format binary)";

export function writeNamedSets(executor: Executor, blocks: readonly NamedSetBlockRow[]): Promise<void> {
  const rows = blocks.map(({ attemptId, firstSeq, part, block }): BinaryField[] => [
    int8(attemptId),
    int8(firstSeq),
    { type: "int2", value: part },
    { type: "int4", value: block.setCount ?? 0 },
    int8(block.fileCount ?? 0),
    int8(block.rawBytes ?? 0),
    { type: "int8", value: block.firstId ?? undefined },
    { type: "int8", value: block.lastId ?? undefined },
    { type: "bool", value: block.cut ?? false },
    { type: "bytes", value: block.data ?? new Uint8Array(0) },
  ]);
  return copyBinary(executor, { text: namedSetsText, rows });
}

function int8(value: number): BinaryField {
  return { type: "int8", value };
}

function whereBytesLie(segment: {
  data: Uint8Array | undefined;
  stagedKey: string | undefined;
}): BinaryField[] {
  return [
    { type: "bytes", value: segment.data },
    { type: "text", value: segment.stagedKey },
  ];
}
