/** Changes to a message's bytes: ascending, not overlapping ranges and what stands there instead. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly bytes: Uint8Array;
}

export const redacted = new TextEncoder().encode("<redacted>");
const nothing = new Uint8Array(0);

/** What a masked range is replaced by. */
export function maskText(span: { readonly continued: boolean }): Uint8Array {
  return span.continued ? nothing : redacted;
}

/** As many bytes as the range had, where its length must not change: `<redacted>` and stars behind, or stars alone. */
export function maskInPlace(length: number): Uint8Array {
  const mask = new Uint8Array(length).fill(0x2a);
  if (length >= redacted.length) mask.set(redacted);
  return mask;
}

/** `bytes[from, to)` with the edits applied; the same view when there are none. */
export function applyEdits(
  bytes: Uint8Array,
  range: { from: number; to: number },
  edits: readonly Edit[],
): Uint8Array {
  if (edits.length === 0) return bytes.subarray(range.from, range.to);
  let length = range.to - range.from;
  for (const edit of edits) length += edit.bytes.length - (edit.to - edit.from);
  const out = new Uint8Array(length);
  let at = 0;
  let from = range.from;
  for (const edit of edits) {
    out.set(bytes.subarray(from, edit.from), at);
    at += edit.from - from;
    out.set(edit.bytes, at);
    at += edit.bytes.length;
    from = edit.to;
  }
  out.set(bytes.subarray(from, range.to), at);
  return out;
}

/** A length as protobuf writes it. */
export function lengthPrefix(length: number): Uint8Array {
  const bytes: number[] = [];
  let rest = length;
  while (rest > 127) {
    bytes.push((rest & 127) | 128);
    rest >>>= 7;
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}
