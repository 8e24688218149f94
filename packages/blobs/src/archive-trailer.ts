// RFC 8878, 3.1.2: what a decoder passes over. The number is one of sixteen.
const skippableMagic = 0x184d2a5d;
const headBytes = 8;
const mark = Buffer.from("MLRA");

/**
 * What an archive ends with: a skippable zstd frame, so that any zstd tool unpacks the object to its events and log,
 * with a copy of the index and what is needed to understand it without the database.
 */
export function archiveTrailer(of: {
  readonly index: Uint8Array;
  readonly project: string;
  readonly attemptId: number;
  readonly firstSeq: number;
  readonly firstByte: number;
  readonly firstLine: number;
}): Uint8Array {
  const { index, ...about } = of;
  const text = Buffer.from(JSON.stringify(about));
  const payload = Buffer.alloc(text.length + index.length + 4 + mark.length);
  payload.set(text);
  payload.set(index, text.length);
  payload.writeUInt32LE(index.length, text.length + index.length);
  payload.set(mark, text.length + index.length + 4);
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(skippableMagic);
  head.writeUInt32LE(payload.length, 4);
  return Buffer.concat([head, payload]);
}
