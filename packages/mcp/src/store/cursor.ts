import { createHash } from "node:crypto";

/**
 * Cursors: a version byte, a kind byte, sixteen bytes of context, then the position, as URL-safe base64 without
 * padding. The context is the truncated SHA-256 of what the page was asked for, so that a cursor cannot be
 * replayed against another query.
 */
export type CursorKind = "invocations" | "ordinal" | "bytes";

const version = 1;
const kindByte: Readonly<Record<CursorKind, number>> = { invocations: 1, ordinal: 3, bytes: 4 };
const contextBytes = 16;
const headBytes = 2 + contextBytes;

/** The context of a query: every part is prefixed with its length, so that no two queries share one. */
export function cursorContext(parts: readonly string[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(Buffer.byteLength(part));
    hash.update(length).update(part);
  }
  return hash.digest().subarray(0, contextBytes);
}

/** `numbers` are unsigned integers below 2^53. */
export function encodeCursor(kind: CursorKind, at: { context: Buffer; numbers: readonly number[] }): string {
  const bytes = Buffer.alloc(headBytes + at.numbers.length * 8);
  bytes[0] = version;
  bytes[1] = kindByte[kind];
  at.context.copy(bytes, 2);
  at.numbers.forEach((number, index) => {
    bytes.writeBigUInt64LE(BigInt(number), headBytes + index * 8);
  });
  return bytes.toString("base64url");
}

/** The numbers of a cursor, or undefined when it is not one of ours for exactly this query. */
export function decodeCursor(
  kind: CursorKind,
  at: { context: Buffer; text: string; count: number },
): readonly number[] | undefined {
  const bytes = Buffer.from(at.text, "base64url");
  if (bytes.toString("base64url") !== at.text || bytes.length !== headBytes + at.count * 8) return undefined;
  if (bytes[0] !== version || bytes[1] !== kindByte[kind]) return undefined;
  if (!bytes.subarray(2, headBytes).equals(at.context)) return undefined;
  const numbers = Array.from({ length: at.count }, (_, index) =>
    Number(bytes.readBigUInt64LE(headBytes + index * 8)),
  );
  return numbers.every(Number.isSafeInteger) ? numbers : undefined;
}
