import { folded } from "./bytes.ts";

/**
 * Finds the places in a text where a secret might be: four-byte markers in any case (`toke`, `ghp_`) and three-byte ones
 * (`://`).
 */
export interface MarkerSearch {
  /** Looks for the next marker that lies in `bytes[from, to)`, in order. It then starts at `at` and is of `rule`. */
  next(bytes: Uint8Array, from: number, to: number): boolean;
  at: number;
  rule: number;
  /** Lets go of the last bytes searched. */
  release(): void;
}

// Bits of a pair of bytes, `bucketCount` each: what it can be in a marker of that bucket.
const bucketCount = 6;
const allBuckets = (1 << bucketCount) - 1;
const evenFirst = 0; // bytes 0 and 1 of a marker at an even address
const evenSecond = bucketCount; // bytes 2 and 3 of it
const oddFirst = 2 * bucketCount; // any byte and byte 0 of a marker at an odd address
const oddSecond = 3 * bucketCount; // bytes 1 and 2 of it
const oddThird = 4 * bucketCount; // byte 3 and any byte

const anyByte = -1;
const everyByte = Array.from({ length: 256 }, (_, byte) => byte);

/**
 * A searcher for `markers`: each a three- or four-byte text and the number (1 to 32,767) of its rule.
 *
 * It reads two bytes at a time and combines table look-ups that do not depend on each other: 0.6–0.9 ns a byte on
 * recorded streams, where a search by shifts (Wu and Manber) needed 1.5–2.2 and a regular expression 3–4, on the same
 * loaded machine. On recorded streams three in ten alarms are false; a hash look-up refutes them.
 */
export function createMarkerSearch(markers: readonly (readonly [string, number])[]): MarkerSearch {
  const pairs = new Uint32Array(65_536);
  const rules = new RuleTable(markers.length);
  for (const [marker, rule] of markers) {
    const bytes = [...marker].map((character) => folded[character.charCodeAt(0)] as number);
    const quad = bytes.length === 4 ? bytes : [...bytes, anyByte];
    rules.add(quad, rule);
    addPairs(pairs, quad);
  }
  return new PairSearch(pairs, rules);
}

class PairSearch implements MarkerSearch {
  at = 0;
  rule = 0;
  private readonly pairs: Uint32Array;
  private readonly rules: RuleTable;
  // Events are views of one arena each, so one view by twos serves many of them.
  private buffer: ArrayBufferLike | undefined;
  private view: Uint16Array = new Uint16Array(0);

  constructor(pairs: Uint32Array, rules: RuleTable) {
    this.pairs = pairs;
    this.rules = rules;
  }

  next(bytes: Uint8Array, from: number, to: number): boolean {
    if (bytes.buffer !== this.buffer) this.look(bytes.buffer);
    const offset = bytes.byteOffset;
    const end = Math.min((to + offset + 1) >> 1, this.view.length);
    for (let index = (from + offset) >> 1; ; index += 1) {
      index = nextAlarm(this.view, this.pairs, { index, end });
      if (index >= end) break;
      // The alarm is for a marker that ends in this pair: it begins in the pair before, or in the second byte before.
      const at = 2 * index - offset;
      if (this.check(bytes, { at: at - 3, from, to }) || this.check(bytes, { at: at - 2, from, to }))
        return true;
    }
    // The last pair of a marker can reach beyond the text or the buffer.
    for (let at = Math.max(from, to - 4); at < to - 2; at += 1) {
      if (this.check(bytes, { at, from, to })) return true;
    }
    return false;
  }

  release(): void {
    this.buffer = undefined;
    this.view = new Uint16Array(0);
  }

  private look(buffer: ArrayBufferLike): void {
    this.buffer = buffer;
    this.view = new Uint16Array(buffer, 0, buffer.byteLength >> 1);
  }

  private check(bytes: Uint8Array, range: { at: number; from: number; to: number }): boolean {
    const { at, from, to } = range;
    if (at < from || at + 3 > to) return false;
    const rule = this.rules.find(bytes, at, to);
    if (rule === 0) return false;
    this.at = at;
    this.rule = rule;
    return true;
  }
}

/** The first pair from `index` on with which a marker may end, or `end`. Its own function, so that it stays a tight loop. */
function nextAlarm(view: Uint16Array, pairs: Uint32Array, range: { index: number; end: number }): number {
  const end = range.end;
  let index = range.index;
  let before = index > 0 ? (pairs[view[index - 1] as number] as number) : 0;
  let beforeThat = index > 1 ? (pairs[view[index - 2] as number] as number) : 0;
  for (; index < end; index += 1) {
    const pair = pairs[view[index] as number] as number;
    const odd = (beforeThat >>> oddFirst) & (before >>> oddSecond) & (pair >>> oddThird);
    const even = before & (pair >>> evenSecond);
    if (((odd | even) & allBuckets) !== 0) return index;
    beforeThat = before;
    before = pair;
  }
  return end;
}

/** Open addressing over the folded bytes of a marker; one of three bytes has 0 for its fourth. */
class RuleTable {
  private readonly keys: Int32Array;
  private readonly values: Int16Array;
  private readonly mask: number;

  constructor(count: number) {
    let size = 64;
    while (size < count * 8) size *= 2;
    this.mask = size - 1;
    this.keys = new Int32Array(size);
    this.values = new Int16Array(size);
  }

  add(quad: readonly number[], rule: number): void {
    const [a, b, c, d] = quad as [number, number, number, number];
    const key = tripleKey(a, b, c) | (d === anyByte ? 0 : d) | 0;
    let slot = this.slotOf(key);
    while (this.values[slot] !== 0) slot = (slot + 1) & this.mask;
    this.keys[slot] = key;
    this.values[slot] = rule;
  }

  find(bytes: Uint8Array, at: number, to: number): number {
    const triple = tripleKey(
      folded[bytes[at] as number] as number,
      folded[bytes[at + 1] as number] as number,
      folded[bytes[at + 2] as number] as number,
    );
    if (at + 3 < to) {
      const rule = this.lookUp(triple | (folded[bytes[at + 3] as number] as number));
      if (rule !== 0) return rule;
    }
    return this.lookUp(triple);
  }

  private lookUp(key: number): number {
    let slot = this.slotOf(key);
    for (;;) {
      const value = this.values[slot] as number;
      if (value === 0 || this.keys[slot] === key) return value;
      slot = (slot + 1) & this.mask;
    }
  }

  private slotOf(key: number): number {
    return (Math.imul(key, 0x9e3779b1) >>> 16) & this.mask;
  }
}

function tripleKey(a: number, b: number, c: number): number {
  return (a << 24) | (b << 16) | (c << 8);
}

function addPairs(pairs: Uint32Array, quad: readonly number[]): void {
  const [a, b, c, d] = quad as [number, number, number, number];
  // By first byte: markers of one bucket then differ in what follows it, and few false combinations arise.
  const bucket = 1 << (a % bucketCount);
  const put = (first: number, second: number, position: number): void => {
    for (const x of casesOf(first)) {
      for (const y of casesOf(second)) {
        const pair = littleEndian ? x | (y << 8) : (x << 8) | y;
        pairs[pair] = ((pairs[pair] as number) | (bucket << position)) >>> 0;
      }
    }
  };
  put(a, b, evenFirst);
  put(c, d, evenSecond);
  put(anyByte, a, oddFirst);
  put(b, c, oddSecond);
  put(d, anyByte, oddThird);
}

const littleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

function casesOf(byte: number): readonly number[] {
  if (byte === anyByte) return everyByte;
  return byte >= 0x61 && byte <= 0x7a ? [byte, byte - 32] : [byte];
}
