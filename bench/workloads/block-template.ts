import { Chance } from "./chance.ts";

/**
 * Events of a block of targets, encoded once: what differs from one block to the next lies in fields of a fixed length
 * and is written over a copy. Encoding half a million events one by one would cost as much as the server spends on them.
 *
 * Of a block differ: the number of each target (`_100042`), the id of each named set (`500042`), the number of each
 * progress event (a varint of three bytes), every digest.
 */
export class BlockTemplate {
  private readonly events: readonly { readonly bytes: Uint8Array; readonly places: readonly Place[] }[];
  private readonly digests: number;
  private readonly step: BlockStep;
  private readonly seed: number;

  constructor(
    payloads: readonly Uint8Array[],
    of: { keep: readonly string[]; step: BlockStep; seed: number },
  ) {
    const digests = new Map<string, number>();
    this.events = payloads.map((bytes) => ({ bytes, places: findPlaces(bytes, { digests, keep: of.keep }) }));
    this.digests = digests.size;
    this.step = of.step;
    this.seed = of.seed;
  }

  /** Payloads of the block with that number, from 0. */
  *block(number: number): Generator<Uint8Array> {
    const chance = new Chance(this.seed + number);
    const digests = Buffer.from(chance.hex(this.digests * digestDigits), "latin1");
    for (const { bytes, places } of this.events) {
      const copy = Buffer.allocUnsafe(bytes.length);
      copy.set(bytes);
      for (const place of places) this.write(copy, { place, number, digests });
      yield copy;
    }
  }

  private write(copy: Buffer, of: { place: Place; number: number; digests: Buffer }): void {
    const { place, number } = of;
    if (place.kind === "digest") {
      const from = place.value * digestDigits;
      copy.set(of.digests.subarray(from, from + digestDigits), place.at);
    } else if (place.kind === "progress") {
      writeVarint(copy, place.at, place.value + number * this.step.progress);
    } else {
      copy.write(String(place.value + number * this.step[place.kind]), place.at, "latin1");
    }
  }
}

/** How far the numbers of a block are from those of the one before. */
export interface BlockStep {
  readonly target: number;
  readonly namedSet: number;
  readonly progress: number;
}

/** First numbers: with so many digits from the first block to the last. */
export const firstNumber = { target: 100_000, namedSet: 500_000, progress: 1 << 14 } as const;

interface Place {
  readonly kind: "target" | "namedSet" | "progress" | "digest";
  readonly at: number;
  /** The number in the first block; of a digest, which one it is. */
  readonly value: number;
}

const digestDigits = 64;

/** Target `_100042` · named set id, a field 1 of six bytes · progress, a field of four with a field 1 · digest. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: bytes of the wire format
const fields = /_(1000\d\d)(?!\d)|\n\x06(5000\d\d)|\x12\x04\x08([\x80-\xff]{2}[\x01-\x7f])|([0-9a-f]{64})/g;

function findPlaces(
  bytes: Uint8Array,
  of: { digests: Map<string, number>; keep: readonly string[] },
): Place[] {
  const text = Buffer.from(bytes).toString("latin1");
  return Array.from(text.matchAll(fields)).flatMap((match): Place[] => {
    const [whole, target, namedSet, progress, digest = ""] = match;
    if (target !== undefined) return [{ kind: "target", at: match.index + 1, value: Number(target) }];
    if (namedSet !== undefined) return [{ kind: "namedSet", at: match.index + 2, value: Number(namedSet) }];
    if (progress !== undefined) {
      return [{ kind: "progress", at: match.index + 3, value: readVarint(bytes, match.index + 3) }];
    }
    if (of.keep.includes(whole)) return [];
    const value = of.digests.get(digest) ?? of.digests.size;
    of.digests.set(digest, value);
    return [{ kind: "digest", at: match.index, value }];
  });
}

/** Varints of three bytes, as all numbers here have. */
function readVarint(bytes: Uint8Array, at: number): number {
  const part = (index: number) => ((bytes[at + index] ?? 0) & 127) << (7 * index);
  return part(0) | part(1) | part(2);
}

function writeVarint(copy: Uint8Array, at: number, value: number): void {
  copy[at] = (value & 127) | 128;
  copy[at + 1] = ((value >>> 7) & 127) | 128;
  copy[at + 2] = value >>> 14;
}
