/** Where a line's bytes lie and the style it begins with. */
export interface LineRecord {
  /** True when the bytes are in the store of lines that were written over, not in the log itself. */
  readonly rewritten: boolean;
  readonly start: number;
  readonly length: number;
  readonly style: number;
}

const firstCapacity = 1_024;

/** The lines of a log as typed arrays: 14 bytes a line, whatever its length. */
export class LineTable {
  private starts = new Float64Array(firstCapacity);
  private lengths = new Uint32Array(firstCapacity);
  private styles = new Uint16Array(firstCapacity);
  private used = 0;

  get count(): number {
    return this.used;
  }

  /** Appends an empty line. */
  push(): void {
    if (this.used === this.starts.length) this.grow();
    this.used += 1;
    this.setPlain(this.used - 1, 0, 0, 0);
  }

  set(line: number, record: LineRecord): void {
    this.starts[line] = record.rewritten ? -1 - record.start : record.start;
    this.lengths[line] = record.length;
    this.styles[line] = record.style;
  }

  /** Without an object in between: called for every line of a log. */
  setPlain(line: number, start: number, length: number, style: number): void {
    this.starts[line] = start;
    this.lengths[line] = length;
    this.styles[line] = style;
  }

  get(line: number): LineRecord {
    const start = this.starts[line] ?? 0;
    return {
      rewritten: start < 0,
      start: start < 0 ? -1 - start : start,
      length: this.length(line),
      style: this.styles[line] ?? 0,
    };
  }

  length(line: number): number {
    return this.lengths[line] ?? 0;
  }

  private grow(): void {
    const capacity = this.starts.length * 2;
    this.starts = copied(new Float64Array(capacity), this.starts);
    this.lengths = copied(new Uint32Array(capacity), this.lengths);
    this.styles = copied(new Uint16Array(capacity), this.styles);
  }
}

function copied<T extends Float64Array | Uint32Array | Uint16Array>(into: T, from: T): T {
  into.set(from);
  return into;
}
