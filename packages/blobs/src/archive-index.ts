import { MillraceError } from "@millrace/base/errors";

/** A zstd frame of an archive: a run of events, or of bytes of the log. */
export interface ArchiveFrame {
  readonly kind: "events" | "log";
  /** Where in the object it lies, and how many bytes it has there. */
  readonly at: number;
  readonly size: number;
  /** Bytes when unpacked. */
  readonly rawBytes: number;
  /** First sequence number, or first byte of the log. */
  readonly first: number;
  /** Events, or bytes of the log. */
  readonly count: number;
  /** For the log: line feeds before it, and within. */
  readonly firstLine: number;
  readonly lineCount: number;
}

/** Where an archive begins; its index tells only what follows. */
export interface ArchiveStart {
  readonly firstSeq: number;
  readonly firstByte: number;
  readonly firstLine: number;
}

const version = 1;
const kinds = ["events", "log"] as const;

/**
 * The index of an archive: a version, then for each frame kind, size, unpacked size and, for events, the numbers that
 * are passed over before it and how many are in it; for the log its line feeds. All as varints: some 8 bytes a frame.
 */
export function encodeArchiveIndex(frames: readonly ArchiveFrame[], start: ArchiveStart): Uint8Array {
  const out: number[] = [];
  varint(out, version);
  varint(out, frames.length);
  let nextSeq = start.firstSeq;
  for (const frame of frames) {
    varint(out, frame.kind === "events" ? 0 : 1);
    varint(out, frame.size);
    varint(out, frame.rawBytes);
    if (frame.kind === "log") {
      varint(out, frame.lineCount);
    } else {
      varint(out, frame.first - nextSeq);
      varint(out, frame.count);
      nextSeq = frame.first + frame.count;
    }
  }
  return Uint8Array.from(out);
}

/** The frames of an archive in the order in which they lie in it. Fails with `archive-broken`. */
export function decodeArchiveIndex(bytes: Uint8Array, start: ArchiveStart): ArchiveFrame[] {
  const next = varints(bytes);
  if (next() !== version) throw broken("it has another version");
  const frames: ArchiveFrame[] = [];
  let { firstSeq: sequence, firstByte: byte, firstLine: line } = start;
  let at = 0;
  for (let left = next(); left > 0; left -= 1) {
    const kind = kinds[next()];
    const size = next();
    const rawBytes = next();
    if (kind === "log") {
      const lineCount = next();
      frames.push({ kind, at, size, rawBytes, first: byte, count: rawBytes, firstLine: line, lineCount });
      byte += rawBytes;
      line += lineCount;
    } else if (kind === "events") {
      const first = sequence + next();
      const count = next();
      frames.push({ kind, at, size, rawBytes, first, count, firstLine: 0, lineCount: 0 });
      sequence = first + count;
    } else throw broken("it has a frame of no known kind");
    at += size;
  }
  return frames;
}

function varint(out: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    out.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  out.push(rest);
}

/** Reads one number after the other. */
function varints(bytes: Uint8Array): () => number {
  let at = 0;
  return () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++];
      if (byte === undefined || factor > 2 ** 49) throw broken("it ends too early");
      value += (byte % 128) * factor;
      if (byte < 128) return value;
    }
  };
}

function broken(why: string): MillraceError {
  return new MillraceError({
    remedy: "reject",
    code: "archive-broken",
    message: `the index of an archive cannot be read: ${why}`,
  });
}
