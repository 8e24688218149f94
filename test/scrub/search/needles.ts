/** A secret to look for. */
export interface Needle {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A piece of a secret that stands in some bytes. */
export interface Hit {
  readonly needle: string;
  /** The piece, one character per byte. */
  readonly window: string;
  readonly at: number;
}

/** The shortest piece of a secret that counts as found. */
export const windowBytes = 8;

const filterBits = 16;

/**
 * Finds every window of `windowBytes` bytes of every needle. One pass over the bytes however many needles there are: a
 * filter on the last four bytes lets few positions through to the exact look-up.
 */
export class Needles {
  private readonly windows = new Map<string, string[]>();
  private readonly filter = new Uint8Array(1 << filterBits);

  /** @throws Error for a needle that is shorter than a window: it could never be found */
  constructor(needles: readonly Needle[]) {
    for (const { name, bytes } of needles) {
      if (bytes.length < windowBytes) throw new Error(`${name} has ${bytes.length} bytes only`);
      for (let at = 0; at + windowBytes <= bytes.length; at += 1) this.add(name, bytes, at);
    }
  }

  /** Windows that belong to several needles: a hit on one would not say which. */
  shared(): string[] {
    return [...this.windows].filter(([, names]) => names.length > 1).map(([window]) => window);
  }

  /** All hits, in order. */
  find(bytes: Uint8Array): Hit[] {
    const hits: Hit[] = [];
    let last = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      last = (last << 8) | (bytes[at] as number);
      if (this.filter[slotOf(last)] === 0 || at + 1 < windowBytes) continue;
      const from = at + 1 - windowBytes;
      const window = latin1(bytes, from);
      for (const needle of this.windows.get(window) ?? []) hits.push({ needle, window, at: from });
    }
    return hits;
  }

  private add(name: string, bytes: Uint8Array, at: number): void {
    const window = latin1(bytes, at);
    const names = this.windows.get(window);
    if (names === undefined) this.windows.set(window, [name]);
    else if (!names.includes(name)) names.push(name);
    let last = 0;
    for (let index = at + windowBytes - 4; index < at + windowBytes; index += 1)
      last = (last << 8) | (bytes[index] as number);
    this.filter[slotOf(last)] = 1;
  }
}

function slotOf(lastFour: number): number {
  return Math.imul(lastFour, 0x9e3779b1) >>> (32 - filterBits);
}

function latin1(bytes: Uint8Array, from: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, windowBytes).toString("latin1");
}
