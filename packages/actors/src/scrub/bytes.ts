/** Classes of bytes, as bits of `classOf[byte]`. Everything here works on bytes: console output need not be UTF-8. */
export const inWord = 1; // [A-Za-z0-9_]
export const inName = 2; // [A-Za-z0-9_.-]
export const inKey = 4; // [A-Za-z0-9_-]
export const inDottedKey = 8; // [A-Za-z0-9_.-]
export const inToken68 = 16; // [A-Za-z0-9._~+/=%-]
export const inAlphanumeric = 32;
export const inUppercaseId = 64; // [A-Z0-9]
export const inPath = 128; // [A-Za-z0-9_/-]
/** Ends at white space, control characters, quotes and angle brackets. */
export const inValue = 256;
/** A value in a URL's query: also ends at what separates parameters or closes a bracket around the URL. */
export const inQuery = 512;
/** Between `://` and the first slash. */
export const inAuthority = 1024;
export const isBlank = 2048; // space and tab
export const isDigit = 4096;
export const isUpper = 8192;
export const inBase64 = 16384; // [A-Za-z0-9+/=]

const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

export const classOf = new Uint16Array(256);

function put(characters: string, bits: number): void {
  for (const character of characters) {
    const byte = character.charCodeAt(0);
    classOf[byte] = (classOf[byte] as number) | bits;
  }
}

function take(characters: string, bits: number): void {
  for (const character of characters) {
    const byte = character.charCodeAt(0);
    classOf[byte] = (classOf[byte] as number) & ~bits;
  }
}

put(alphanumeric, inWord | inName | inKey | inDottedKey | inToken68 | inAlphanumeric | inPath | inBase64);
put("_", inWord | inName | inKey | inDottedKey | inToken68 | inPath);
put("-", inName | inKey | inDottedKey | inToken68 | inPath);
put(".", inName | inDottedKey | inToken68);
put("/", inToken68 | inPath);
put("~+=%", inToken68);
put("+/=", inBase64);
put("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", inUppercaseId);
put("0123456789", isDigit);
put("ABCDEFGHIJKLMNOPQRSTUVWXYZ", isUpper);
put(" \t", isBlank);
for (let byte = 0x21; byte < 0x100; byte += 1) {
  if (byte !== 0x7f) classOf[byte] = (classOf[byte] as number) | inValue | inQuery | inAuthority;
}
take("\"'`<>", inValue | inQuery | inAuthority);
take("&#;)]},|", inQuery);
take("/?#\\", inAuthority);

/** Lower case of ASCII letters, every other byte as it is. */
export const folded = new Uint8Array(256);
for (let byte = 0; byte < 256; byte += 1) folded[byte] = byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte;

export function has(byte: number | undefined, bits: number): boolean {
  return byte !== undefined && ((classOf[byte] as number) & bits) !== 0;
}

/** The first index in [from, to) whose byte is in none of the classes `bits`, or `to`. */
export function runEnd(bytes: Uint8Array, at: { from: number; to: number; bits: number }): number {
  const { to, bits } = at;
  let index = at.from;
  while (index < to && ((classOf[bytes[index] as number] as number) & bits) !== 0) index += 1;
  return index;
}

/** How many bytes of `literal` stand at `at`, exactly as written; reading stops at `to`. */
export function matchedLength(
  bytes: Uint8Array,
  literal: Uint8Array,
  range: { at: number; to: number },
): number {
  const length = Math.min(literal.length, range.to - range.at);
  let index = 0;
  while (index < length && bytes[range.at + index] === literal[index]) index += 1;
  return index;
}

/** The bytes as text, one character per byte. For short names and values only. */
export function latin1(bytes: Uint8Array, from: number, to: number): string {
  let text = "";
  for (let index = from; index < to; index += 1) text += String.fromCharCode(bytes[index] as number);
  return text;
}

/** ASCII text as bytes. */
export function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

export const byteOf = {
  tab: 9,
  lineFeed: 10,
  carriageReturn: 13,
  escape: 27,
  space: 32,
  doubleQuote: 34,
  singleQuote: 39,
  dash: 45,
  dot: 46,
  slash: 47,
  colon: 58,
  less: 60,
  equals: 61,
  greater: 62,
  question: 63,
  at: 64,
  leftBracket: 91,
  backslash: 92,
  leftBrace: 123,
  percent: 37,
  ampersand: 38,
  semicolon: 59,
} as const;
