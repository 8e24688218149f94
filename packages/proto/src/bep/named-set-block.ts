import { FieldScanner, type Malformed } from "../wire/field-scanner.ts";
import { type BepEvent, idField } from "./kind.ts";

/**
 * Named sets of files and the outputs of targets as they are stored: frames of `flags, id length, id, payload length, payload`, the numbers as
 * varints, the payload a NamedSetOfFiles as Bazel sent it. A set too large for one block goes on in further frames,
 * which say so by their flag; the payloads of a set's frames, one behind the other, are its message. A frame that does
 * not go on with a set begins it anew: what was said last of an id stands. A frame with the outputs of a target says so by
 * another flag: its id is the sequence number of the target's event, its payload what `copyTargetOutputs` takes of it.
 */
const goesOn = 1;
const isOutputs = 2;

/** One frame of a block. */
export interface NamedSetFrame {
  readonly id: string;
  /** The payload belongs to the set with this id that an earlier frame began. */
  readonly continues: boolean;
  /** The outputs of the target whose event has this sequence number, and no set. */
  readonly outputs: boolean;
  /** A view of the block. */
  readonly payload: Uint8Array;
}

/** A named set as it lies in its event; nothing is decoded. */
export interface NamedSetPlace {
  readonly bytes: Uint8Array;
  readonly idStart: number;
  readonly idEnd: number;
  readonly fileCount: number;
}

// build_event_stream.BuildEventId.NamedSetOfFilesId, build_event_stream.NamedSetOfFiles
const idNameField = 1;
const filesField = 1;

const scanner = new FieldScanner();

/** Finds the id and counts the files of a payload of kind `namedSetOfFiles`. */
export function locateNamedSet(event: BepEvent): NamedSetPlace | Malformed {
  let idStart = 0;
  let idEnd = 0;
  if (event.id === idField.namedSet) {
    scanner.reset(event.bytes, event.idStart, event.idEnd);
    while (scanner.next()) {
      if (scanner.isBytes(idNameField)) {
        idStart = scanner.from;
        idEnd = scanner.to;
      }
    }
    if (scanner.malformed) return scanner.malformed;
  }
  let fileCount = 0;
  scanner.reset(event.bytes, event.payloadStart, event.payloadEnd);
  while (scanner.next()) if (scanner.isBytes(filesField)) fileCount += 1;
  return scanner.malformed ?? { bytes: event.bytes, idStart, idEnd, fileCount };
}

/**
 * Cuts `bytes[from, to)` between its top-level fields into pieces of at most `bytesMax`; one field that is longer is a
 * piece by itself. An empty message is one empty piece.
 */
export function cutBetweenFields(
  bytes: Uint8Array,
  range: { readonly from: number; readonly to: number },
  bytesMax: number,
): { from: number; to: number }[] {
  const pieces: { from: number; to: number }[] = [];
  let from = range.from;
  let last = range.from;
  const reach = (boundary: number): void => {
    if (boundary - from > bytesMax && last > from) {
      pieces.push({ from, to: last });
      from = last;
    }
    last = boundary;
  };
  if (range.to - range.from > bytesMax) {
    scanner.reset(bytes, range.from, range.to);
    while (scanner.next()) reach(scanner.start);
    scanner.release();
    reach(range.to);
  }
  pieces.push({ from, to: range.to });
  return pieces;
}

/** The head of a frame; the payload follows. */
export function frameHead(of: {
  readonly id: Uint8Array;
  readonly continues: boolean;
  readonly outputs: boolean;
  readonly payloadBytes: number;
}): Uint8Array {
  const head: number[] = [(of.continues ? goesOn : 0) | (of.outputs ? isOutputs : 0)];
  pushVarint(head, of.id.length);
  head.push(...of.id);
  pushVarint(head, of.payloadBytes);
  return Uint8Array.from(head);
}

function pushVarint(to: number[], value: number): void {
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) to.push((rest % 128) | 128);
  to.push(rest);
}

/** The frames of a block, decompressed. A block that ends within a frame is a fault of storage: it throws. */
export function* readFrames(block: Uint8Array): Generator<NamedSetFrame> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = block[at++];
      if (byte === undefined) throw new RangeError("a block of named sets is cut off");
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  const take = (length: number): Uint8Array => {
    at += length;
    if (at > block.length) throw new RangeError("a block of named sets is cut off");
    return block.subarray(at - length, at);
  };
  while (at < block.length) {
    const flags = varint();
    const id = Buffer.from(take(varint())).toString("utf8");
    const what = { continues: (flags & goesOn) !== 0, outputs: (flags & isOutputs) !== 0 };
    yield { id, ...what, payload: take(varint()) };
  }
}

const plainNumber = /^(0|[1-9][0-9]{0,14})$/;

/** The number that an id is, as Bazel's all are; undefined for any other text. */
export function numberOfId(id: string): number | undefined {
  return plainNumber.test(id) ? Number(id) : undefined;
}
