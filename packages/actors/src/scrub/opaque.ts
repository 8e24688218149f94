import { type Edit, maskInPlace } from "./edits.ts";
import { scanText } from "./scan-text.ts";
import { WireCursor } from "./wire-cursor.ts";

const depthMax = 8;

interface Opaque {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
}

/**
 * Masks secrets in bytes whose schema is not known, each in place with its length kept: whatever the bytes are, the
 * lengths around stay right. If they read as a message its fields are looked at one by one, so that no mask reaches
 * from one field into the next.
 */
export function maskOpaque(range: Opaque): Edit[] {
  const edits: Edit[] = [];
  maskFields(range, { edits, depth: 0 });
  return edits.length > 0 ? edits : maskAsText(range);
}

/**
 * What is to be masked in place where a message ceases to be one, at `brokenFrom`. The message is read as one text, since
 * a secret in it may reach over the point where its fields end, or have been taken for fields; and the remainder by
 * itself. Before `freeFrom` others have masked.
 */
export function maskRemainder(
  bytes: Uint8Array,
  message: { from: number; to: number; freeFrom: number; brokenFrom: number },
): Edit[] {
  const { from, to, freeFrom, brokenFrom } = message;
  const edits: Edit[] = [];
  const spans = [
    ...scanText({ bytes, from, to }, {}).spans,
    ...scanText({ bytes, from: brokenFrom, to }, {}).spans,
  ];
  let at = freeFrom;
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const first = Math.max(at, span.from);
    if (span.to <= first) continue;
    edits.push({ from: first, to: span.to, bytes: maskInPlace(span.to - first) });
    at = span.to;
  }
  return edits;
}

function maskFields(range: Opaque, into: { edits: Edit[]; depth: number }): void {
  const { bytes, from, to } = range;
  if (into.depth === depthMax || !isMessage(range)) {
    into.edits.push(...maskAsText(range));
    return;
  }
  const cursor = new WireCursor(bytes, from, to);
  while (cursor.next()) {
    if (!cursor.isDelimited) continue;
    maskFields({ bytes, from: cursor.from, to: cursor.to }, { edits: into.edits, depth: into.depth + 1 });
  }
}

function isMessage({ bytes, from, to }: Opaque): boolean {
  if (from === to) return false;
  const cursor = new WireCursor(bytes, from, to);
  while (cursor.next());
  return cursor.brokenFrom < 0;
}

function maskAsText(range: Opaque): Edit[] {
  return scanText(range, {}).spans.map(({ from, to }) => ({ from, to, bytes: maskInPlace(to - from) }));
}
