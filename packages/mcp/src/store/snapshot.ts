import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { errorCode } from "@millrace/base/errors";
import { fileMode } from "./private-file.ts";
import { states } from "./record.ts";
import type { Entry } from "./record-index.ts";
import { uuidBytes, uuidText, uuidToBytes } from "./uuid7.ts";

/**
 * The index at one moment, so that a start need not read every manifest: how far each journal was read, when each shard
 * directory last changed, and a fixed row per invocation. Whatever contradicts it on disk is read again;
 * a snapshot that is damaged or of another version is no snapshot.
 */
export interface Snapshot {
  readonly journals: ReadonlyMap<string, number>;
  readonly shards: ReadonlyMap<string, bigint>;
  readonly entries: readonly Entry[];
}

const magic = "millrace-index-1\n";
// id, four numbers of 8 bytes, state, and three indexes into the string table.
const rowBytes = uuidBytes + 4 * 8 + 1 + 3 * 4;
const evidenceBit = 0x80;

interface Head {
  readonly journals: readonly (readonly [string, number])[];
  readonly shards: readonly (readonly [string, string])[];
  readonly strings: readonly string[];
  readonly rows: number;
  readonly crc: number;
}

export function writeSnapshot(path: string, snapshot: Snapshot): void {
  const strings = new Map<string, number>();
  const indexOf = (text: string): number => {
    const known = strings.get(text);
    if (known !== undefined) return known;
    strings.set(text, strings.size);
    return strings.size - 1;
  };
  const rows = Buffer.alloc(snapshot.entries.length * rowBytes);
  snapshot.entries.forEach((entry, index) => {
    writeRow(rows, { offset: index * rowBytes, entry, indexOf });
  });
  const head: Head = {
    journals: [...snapshot.journals],
    shards: [...snapshot.shards].map(([name, time]) => [name, String(time)] as const),
    strings: [...strings.keys()],
    rows: snapshot.entries.length,
    crc: crc32(rows),
  };
  const temporary = `${path}.${process.pid}.tmp`;
  const bytes = Buffer.concat([Buffer.from(`${magic}${JSON.stringify(head)}\n`), rows]);
  try {
    writeFileSync(temporary, bytes, { mode: fileMode });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function writeRow(rows: Buffer, at: { offset: number; entry: Entry; indexOf: (t: string) => number }): void {
  const { entry } = at;
  let offset = at.offset;
  uuidToBytes(entry.id).copy(rows, offset);
  offset += uuidBytes;
  for (const number of [
    entry.requestedAtMs,
    entry.finishedAtMs,
    entry.payloadBytes,
    entry.protectedUntilMs,
  ]) {
    offset = rows.writeDoubleLE(number, offset);
  }
  offset = rows.writeUInt8(states.indexOf(entry.state) | (entry.hasEvidence ? evidenceBit : 0), offset);
  for (const text of [entry.command, entry.workspace, entry.owner]) {
    offset = rows.writeUInt32LE(at.indexOf(text), offset);
  }
}

/** The snapshot, or undefined when there is none that can be trusted. */
export function readSnapshot(path: string): Snapshot | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
  const head = readHead(bytes);
  if (head === undefined) return undefined;
  const rows = bytes.subarray(head.end);
  if (rows.length !== head.head.rows * rowBytes || crc32(rows) !== head.head.crc) return undefined;
  return {
    journals: new Map(head.head.journals),
    shards: new Map(head.head.shards.map(([name, time]) => [name, BigInt(time)])),
    entries: readRows(rows, head.head.strings),
  };
}

function readHead(bytes: Buffer): { head: Head; end: number } | undefined {
  if (bytes.toString("latin1", 0, magic.length) !== magic) return undefined;
  const end = bytes.indexOf(0x0a, magic.length);
  if (end === -1) return undefined;
  try {
    return { head: JSON.parse(bytes.toString("utf8", magic.length, end)) as Head, end: end + 1 };
  } catch {
    return undefined; // Damaged: the walk finds everything.
  }
}

function readRows(rows: Buffer, strings: readonly string[]): Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; at < rows.length; at += rowBytes) {
    const numbers = at + uuidBytes;
    const table = numbers + 33;
    entries.push({
      id: uuidText(rows, at),
      requestedAtMs: rows.readDoubleLE(numbers),
      finishedAtMs: rows.readDoubleLE(numbers + 8),
      payloadBytes: rows.readDoubleLE(numbers + 16),
      protectedUntilMs: rows.readDoubleLE(numbers + 24),
      state: states[(rows[numbers + 32] ?? 0) & ~evidenceBit] ?? "interrupted",
      hasEvidence: ((rows[numbers + 32] ?? 0) & evidenceBit) !== 0,
      command: strings[rows.readUInt32LE(table)] ?? "",
      workspace: strings[rows.readUInt32LE(table + 4)] ?? "",
      owner: strings[rows.readUInt32LE(table + 8)] ?? "",
    });
  }
  return entries;
}
