import { inflateRawSync } from "node:zlib";
import { zstdFrames } from "./zstd-frames.ts";

/** Bytes that were wrapped up in others, and how. */
export interface Layer {
  readonly how: "zstd" | "gzip" | "base64" | "hex" | "percent" | "escapes";
  readonly bytes: Uint8Array;
}

/** What was unwrapped, and what looked like a zstd frame and was none. */
export interface Unwrapped {
  readonly layers: readonly Layer[];
  readonly unreadableFrames: number;
}

// Shorter runs hold no window of a secret.
const encodedBytesMin = 8;

/**
 * Takes off one layer of every encoding that is found in the bytes, wherever it begins. What is found too much does no
 * harm: decoded nonsense holds no secret. Fields of protobuf messages need nothing: their bytes lie there as they are.
 */
export function unwrap(bytes: Uint8Array): Unwrapped {
  const layers: Layer[] = [];
  let unreadableFrames = 0;
  for (const { content } of zstdFrames(bytes)) {
    if (content === undefined) unreadableFrames += 1;
    else layers.push({ how: "zstd", bytes: content });
  }
  layers.push(...gzipMembers(bytes));
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  layers.push(...base64Runs(text), ...hexRuns(text));
  if (/%[0-9A-Fa-f]{2}/.test(text)) layers.push({ how: "percent", bytes: percentDecoded(text) });
  if (/\\[^\s]/.test(text)) {
    layers.push({ how: "escapes", bytes: unescaped(text, "utf8") });
    if (/\\u00[89A-Fa-f]/.test(text)) layers.push({ how: "escapes", bytes: unescaped(text, "latin1") });
  }
  return { layers, unreadableFrames };
}

const gzipMagic = Buffer.of(0x1f, 0x8b, 0x08);

function gzipMembers(bytes: Uint8Array): Layer[] {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const layers: Layer[] = [];
  for (let at = all.indexOf(gzipMagic); at !== -1; at = all.indexOf(gzipMagic, at + 1)) {
    try {
      // What stands behind the member is no concern of the raw form.
      layers.push({ how: "gzip", bytes: inflateRawSync(all.subarray(behindGzipHeader(all, at))) });
    } catch {
      // Three bytes that are no gzip member.
    }
  }
  return layers;
}

/** RFC 1952 §2.3: ten bytes, then what the flags say. */
function behindGzipHeader(bytes: Buffer, from: number): number {
  const flags = bytes[from + 3] ?? 0;
  let at = from + 10;
  if ((flags & 4) !== 0) at += 2 + bytes.readUInt16LE(at);
  for (const flag of [8, 16]) if ((flags & flag) !== 0) at = bytes.indexOf(0, at) + 1;
  return (flags & 2) === 0 ? at : at + 2;
}

/**
 * Runs of base64 of either alphabet. A run may begin with letters that do not belong to it, so it is decoded from each of
 * its first four characters on; line breaks within it, also escaped ones, are those of MIME.
 */
function base64Runs(text: string): Layer[] {
  const layers: Layer[] = [];
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_-]{11,}(?:(?:\r?\n|(?:\\r)?\\n)[A-Za-z0-9+/_-]{4,})*/g)) {
    const letters = run.replaceAll(/\r?\n|(?:\\r)?\\n/g, "");
    for (let from = 0; from < 4; from += 1) {
      layers.push({ how: "base64", bytes: Buffer.from(letters.slice(from), "base64") });
    }
  }
  return layers;
}

function hexRuns(text: string): Layer[] {
  const layers: Layer[] = [];
  for (const [run] of text.matchAll(/[0-9A-Fa-f]{16,}/g)) {
    for (const from of [0, 1]) {
      const even = run.slice(from, from + 2 * Math.floor((run.length - from) / 2));
      if (even.length >= 2 * encodedBytesMin) layers.push({ how: "hex", bytes: Buffer.from(even, "hex") });
    }
  }
  return layers;
}

function percentDecoded(text: string): Uint8Array {
  const decoded = text.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return Buffer.from(decoded, "latin1");
}

const simpleEscapes: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  b: "\b",
  f: "\f",
  v: "\v",
};

/** One level of the escapes of JSON, C, shells and protobuf's text format; `\\u00e9` is a character or a byte. */
function unescaped(text: string, characters: "utf8" | "latin1"): Uint8Array {
  const parts = text.replaceAll(
    /\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|([0-7]{3})|([^\s]))/g,
    (whole, unicode: string, hex: string, octal: string, letter: string) => {
      if (unicode !== undefined) {
        const bytes = Buffer.from(String.fromCharCode(Number.parseInt(unicode, 16)), characters);
        return bytes.toString("latin1");
      }
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 255);
      return simpleEscapes[letter] ?? letter ?? whole;
    },
  );
  return Buffer.from(parts, "latin1");
}
