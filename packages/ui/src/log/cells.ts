import { charWidth } from "./char-width.ts";

/** A run of characters of one style. */
export interface Span {
  readonly text: string;
  readonly style: number;
}

/** Columns behind this are not kept for a line that is being written over. */
const columnsMax = 8_192;

/** Right half of a wide character. */
const rightHalf = "";

/** One line as a terminal sees it: a character and a style per column. */
export class Cells {
  private readonly chars: string[] = [];
  private readonly styles: number[] = [];

  get length(): number {
    return this.chars.length;
  }

  /** Writes a character over column `at`. Returns the column after it. */
  put(at: number, codePoint: number, style: number): number {
    const char = String.fromCodePoint(codePoint);
    // A mark with nothing before it stands alone.
    const width = at === 0 ? charWidth(codePoint) || 1 : charWidth(codePoint);
    if (width === 0) {
      this.join(at - 1, char);
      return at;
    }
    if (at + width > columnsMax) return at;
    this.reach(at);
    this.breakWide(at);
    this.breakWide(at + width);
    this.set(at, char, style);
    if (width === 2) this.set(at + 1, rightHalf, style);
    return at + width;
  }

  /** Empties columns `[from, to)`; what is empty at the end of the line goes. */
  erase(from: number, to: number): void {
    this.breakWide(from);
    this.breakWide(to);
    if (to >= this.chars.length) this.truncate(from);
    else for (let at = from; at < to; at++) this.set(at, " ", 0);
  }

  /** Takes out `count` columns at `at`; what is behind moves left. */
  remove(at: number, count: number): void {
    this.chars.splice(at, count);
    this.styles.splice(at, count);
  }

  /** Puts `count` empty columns in at `at`; what is behind moves right. */
  insert(at: number, count: number): void {
    this.reach(at);
    const room = Math.min(count, columnsMax - at);
    this.chars.splice(at, 0, ...new Array<string>(room).fill(" "));
    this.styles.splice(at, 0, ...new Array<number>(room).fill(0));
    this.truncate(columnsMax);
  }

  spans(): Span[] {
    const spans: Span[] = [];
    let from = 0;
    for (let at = 1; at <= this.chars.length; at++) {
      if (at < this.chars.length && this.styles[at] === this.styles[from]) continue;
      spans.push({ text: this.chars.slice(from, at).join(""), style: this.styles[from] ?? 0 });
      from = at;
    }
    return spans;
  }

  private set(at: number, char: string, style: number): void {
    this.chars[at] = char;
    this.styles[at] = style;
  }

  /** Fills with blanks up to column `at`. */
  private reach(at: number): void {
    while (this.chars.length < at) {
      this.chars.push(" ");
      this.styles.push(0);
    }
  }

  private join(at: number, char: string): void {
    const base = this.chars[at] === rightHalf ? at - 1 : at;
    const before = this.chars[base];
    // A character takes only so many marks; more are an attack on whoever draws them.
    if (before !== undefined && before.length < 16) this.chars[base] = before + char;
  }

  /** A wide character that begins before column `at` and ends behind it becomes blank: half of it goes. */
  private breakWide(at: number): void {
    if (this.chars[at] !== rightHalf) return;
    this.chars[at] = " ";
    if (at > 0) this.chars[at - 1] = " ";
  }

  private truncate(length: number): void {
    if (this.chars.length <= length) return;
    this.chars.length = length;
    this.styles.length = length;
  }
}
