const newline = 0x0a;

/**
 * Newlines in `bytes[from, to)`. Four bytes at a time: a byte is zero after the exclusive-or when it was a newline, and
 * the carry-free sum finds zero bytes. Measured by `pnpm bench mcp` (count row): several times as fast as indexOf.
 */
export function countNewlines(bytes: Uint8Array, from = 0, to = bytes.length): number {
  let count = 0;
  let at = from;
  while (at < to && ((bytes.byteOffset + at) & 3) !== 0) {
    if (bytes[at] === newline) count += 1;
    at += 1;
  }
  const wordCount = (to - at) >>> 2;
  if (wordCount > 0) {
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset + at, wordCount);
    count += countInWords(words);
    at += wordCount * 4;
  }
  for (; at < to; at += 1) if (bytes[at] === newline) count += 1;
  return count;
}

function countInWords(words: Uint32Array): number {
  let count = 0;
  for (let index = 0; index < words.length; index += 1) {
    const x = (words[index] as number) ^ 0x0a0a0a0a;
    const nonZero = ((x & 0x7f7f7f7f) + 0x7f7f7f7f) | x;
    const zero = ~nonZero & 0x80808080;
    // One bit per zero byte, at most four: add them up.
    if (zero !== 0) count += Math.imul((zero >>> 7) & 0x01010101, 0x01010101) >>> 24;
  }
  return count;
}
