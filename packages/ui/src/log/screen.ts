import { ByteStore } from "./byte-store.ts";
import { Cells, type Span } from "./cells.ts";
import type { TerminalActions } from "./control-parser.ts";
import { LineTable } from "./line-table.ts";
import { bytesOf, cellsOf, nextTabStop, spansOf } from "./render-line.ts";
import { StyleTable } from "./style-table.ts";

/** How many of the last lines the cursor can reach: more than any screen has. */
const reachableLines = 500;
/** Bytes of a line that are drawn; what is behind stays in the download. */
export const drawnBytesMax = 16_384;

/** A line as it is drawn. */
export interface DrawnLine {
  readonly spans: readonly Span[];
  /** Bytes at its end that are not drawn. */
  readonly hiddenBytes: number;
}

/**
 * Lines, cursor and style of a terminal of unlimited width and height. A line is where it lies in the log's bytes; only one that
 * is written over is kept apart, as cells while the cursor can reach it and as bytes later.
 */
export class Screen implements TerminalActions {
  readonly styles = new StyleTable();
  row = 0;
  column = 0;
  style = 0;
  private readonly bytes: ByteStore;
  private readonly lines = new LineTable();
  private readonly rewritten = new ByteStore();
  private readonly edited = new Map<number, Cells>();
  private saved = { row: 0, column: 0, style: 0 };
  private top = 0;

  constructor(bytes: ByteStore) {
    this.bytes = bytes;
    this.lines.push();
  }

  /** Lines to draw: the empty ones at the end, where a cursor waits, are none. */
  get lineCount(): number {
    let count = this.lines.count;
    const least = Math.max(0, count - reachableLines);
    while (count > least && this.isEmpty(count - 1)) count -= 1;
    return count;
  }

  line(index: number): DrawnLine {
    const cells = this.edited.get(index);
    if (cells !== undefined) return { spans: cells.spans(), hiddenBytes: 0 };
    const { bytes, style, hiddenBytes } = this.stored(index);
    return { spans: spansOf(bytes, style, this.styles), hiddenBytes };
  }

  isEmpty(row: number): boolean {
    const cells = this.edited.get(row);
    return cells === undefined ? this.lines.length(row) === 0 : cells.length === 0;
  }

  /** The cursor's line is these bytes of the log, beginning in `style`. */
  setPlain(start: number, length: number, style: number): void {
    if (this.edited.size > 0) this.edited.delete(this.row);
    this.lines.setPlain(this.row, start, length, style);
  }

  nextLine(): void {
    this.row += 1;
    this.column = 0;
    if (this.row === this.lines.count) this.lines.push();
  }

  print(codePoint: number): void {
    this.column = this.cells(this.row).put(this.column, codePoint, this.style);
  }

  control(byte: number): void {
    if (byte >= 0x0a && byte <= 0x0c) this.nextLine();
    else if (byte === 0x0d) this.column = 0;
    else if (byte === 0x08) this.column = Math.max(0, this.column - 1);
    else if (byte === 0x09) this.column = nextTabStop(this.column);
  }

  escape(final: string): void {
    if (final === "7") this.saveCursor();
    else if (final === "8") this.restoreCursor();
    else if (final === "M") this.moveTo(this.row - 1);
    else if (final === "D") this.moveTo(this.row + 1);
    else if (final === "E") this.nextLine();
    else if (final === "c") this.clear();
  }

  sequence(final: string, parameters: string): void {
    // What begins with <, =, > or ? sets modes of the terminal.
    if (/^[<=>?]/.test(parameters)) return;
    if (final === "m") {
      this.style = this.styles.move(this.style, parameters);
      return;
    }
    const [first = 0, second = 0] = parameters.split(";").map((text) => Number(text) || 0);
    if ("JKPX@".includes(final)) this.change(final, first);
    else this.move(final, first, second);
  }

  private move(final: string, first: number, second: number): void {
    const count = Math.max(1, first);
    if (final === "A" || final === "F") this.moveTo(this.row - count);
    else if (final === "B" || final === "E") this.moveTo(this.row + count);
    else if (final === "C") this.moveToColumn(this.column + count);
    else if (final === "D") this.moveToColumn(this.column - count);
    else if (final === "G" || final === "`") this.moveToColumn(count - 1);
    else if (final === "H" || final === "f") this.moveHome(count - 1, Math.max(1, second) - 1);
    else if (final === "d") this.moveHome(count - 1, this.column);
    else if (final === "s") this.saveCursor();
    else if (final === "u") this.restoreCursor();
    if (final === "E" || final === "F") this.column = 0;
  }

  private change(final: string, first: number): void {
    const cells = this.cells(this.row);
    const count = Math.max(1, first);
    if (final === "J") this.eraseDisplay(first);
    else if (final === "P") cells.remove(this.column, count);
    else if (final === "@") cells.insert(this.column, count);
    else if (final === "X") cells.erase(this.column, this.column + count);
    else if (first === 0) cells.erase(this.column, cells.length);
    else cells.erase(0, first === 1 ? this.column + 1 : cells.length);
  }

  /** Clearing the screen keeps what it showed: it scrolls up, as a log must. */
  private eraseDisplay(mode: number): void {
    if (mode === 2 || mode === 3) this.clear();
    if (mode !== 0) return;
    this.change("K", 0);
    for (let row = this.row + 1; row < this.lines.count; row++) this.edited.set(row, new Cells());
  }

  private clear(): void {
    this.row = this.lines.count - 1;
    if (!this.isEmpty(this.row)) this.nextLine();
    this.top = this.row;
    this.column = 0;
  }

  private moveTo(row: number): void {
    const highest = Math.max(0, this.lines.count - reachableLines);
    this.row = Math.min(Math.max(row, highest), this.lines.count - 1);
  }

  private moveToColumn(column: number): void {
    this.column = Math.min(Math.max(0, column), drawnBytesMax);
  }

  private moveHome(row: number, column: number): void {
    const wanted = this.top + Math.min(row, reachableLines - 1);
    while (this.lines.count <= wanted) this.lines.push();
    this.moveTo(wanted);
    this.moveToColumn(column);
  }

  private saveCursor(): void {
    this.saved = { row: this.row, column: this.column, style: this.style };
  }

  private restoreCursor(): void {
    this.moveTo(this.saved.row);
    this.column = this.saved.column;
    this.style = this.saved.style;
  }

  private stored(row: number): { bytes: Uint8Array; style: number; hiddenBytes: number } {
    const record = this.lines.get(row);
    const shown = Math.min(record.length, drawnBytesMax);
    const store = record.rewritten ? this.rewritten : this.bytes;
    const bytes = store.read(record.start, record.start + shown);
    return { bytes, style: record.style, hiddenBytes: record.length - shown };
  }

  /** The line as cells; from now on it is kept apart. */
  private cells(row: number): Cells {
    const known = this.edited.get(row);
    if (known !== undefined) return known;
    const { bytes, style } = this.stored(row);
    const cells = cellsOf(bytes, style, this.styles);
    this.edited.set(row, cells);
    if (this.edited.size > reachableLines * 2) this.putAside();
    return cells;
  }

  /** Lines that no cursor reaches any more become bytes again. */
  private putAside(): void {
    for (const [row, cells] of this.edited) {
      if (row >= this.lines.count - reachableLines) continue;
      const bytes = cells.length === 0 ? new Uint8Array(0) : bytesOf(cells, this.styles);
      this.lines.set(row, { rewritten: true, start: this.rewritten.length, length: bytes.length, style: 0 });
      this.rewritten.append(bytes);
      this.edited.delete(row);
    }
  }
}
