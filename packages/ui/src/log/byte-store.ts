const blockShift = 20;
const blockBytes = 1 << blockShift;
const blockMask = blockBytes - 1;

/** Bytes that only grow, in blocks of 1 MiB: nothing is copied again when more arrive. */
export class ByteStore {
  private readonly blocks: Uint8Array[] = [];
  private used = 0;

  get length(): number {
    return this.used;
  }

  append(bytes: Uint8Array): void {
    let taken = 0;
    while (taken < bytes.length) {
      const inBlock = this.used & blockMask;
      if (inBlock === 0) this.blocks.push(new Uint8Array(blockBytes));
      const piece = bytes.subarray(taken, taken + blockBytes - inBlock);
      this.blocks.at(-1)?.set(piece, inBlock);
      taken += piece.length;
      this.used += piece.length;
    }
  }

  /** The byte at `offset`; -1 outside. */
  at(offset: number): number {
    if (offset < 0 || offset >= this.used) return -1;
    return this.blocks[Math.floor(offset / blockBytes)]?.[offset & blockMask] ?? -1;
  }

  /** What is stored from `offset` to the end of its block or of everything: a view, for scanning. */
  viewFrom(offset: number): Uint8Array {
    const block = this.blocks[Math.floor(offset / blockBytes)];
    if (block === undefined || offset >= this.used) return new Uint8Array(0);
    const blockStart = offset - (offset & blockMask);
    return block.subarray(offset & blockMask, Math.min(blockBytes, this.used - blockStart));
  }

  /** `[from, to)` as one array; a view when it lies in one block. */
  read(from: number, to: number): Uint8Array {
    const end = Math.min(to, this.used);
    if (from >= end) return new Uint8Array(0);
    const first = this.viewFrom(from);
    if (first.length >= end - from) return first.subarray(0, end - from);
    const whole = new Uint8Array(end - from);
    let filled = 0;
    while (filled < whole.length) {
      const view = this.viewFrom(from + filled).subarray(0, whole.length - filled);
      whole.set(view, filled);
      filled += view.length;
    }
    return whole;
  }
}
