import { ByteStore } from "./byte-store.ts";
import { ControlParser } from "./control-parser.ts";
import { type DrawnLine, Screen } from "./screen.ts";
import type { StyleTable } from "./style-table.ts";

const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const escapeByte = 0x1b;

/** Longer sequences are not taken for styles. */
const styleBytesMax = 64;

/** What a scan does next. */
type Step = "go on" | "wait" | "leave";

/**
 * A log as a terminal would show it, from bytes that are appended in any pieces.
 *
 * Most lines of a build log are plain text with styles, written to an empty line: these are found by looking for the line feed
 * (a *run*). All else goes byte by byte through the control parser. Both give the same lines; `withRuns` is there for the test of
 * that.
 */
export class TerminalLog {
  readonly bytes = new ByteStore();
  private readonly screen = new Screen(this.bytes);
  private readonly parser = new ControlParser(this.screen);
  private readonly withRuns: boolean;
  /** Bytes that were looked at. */
  private parsed = 0;
  /** Where the open run began; -1 when there is none. */
  private runStart = -1;
  private runStyle = 0;
  private runHasText = false;

  constructor(settings: { withRuns: boolean } = { withRuns: true }) {
    this.withRuns = settings.withRuns;
  }

  get lineCount(): number {
    return this.screen.lineCount;
  }

  get styles(): StyleTable {
    return this.screen.styles;
  }

  append(bytes: Uint8Array): void {
    this.bytes.append(bytes);
    while (this.parsed < this.bytes.length) {
      if (!this.mayRun()) this.feedParser();
      else if (!this.scanRun()) break;
    }
    this.showOpenRun();
  }

  line(index: number): DrawnLine {
    return this.screen.line(index);
  }

  text(index: number): string {
    return this.line(index)
      .spans.map((span) => span.text)
      .join("");
  }

  private feedParser(): void {
    for (const byte of this.bytes.viewFrom(this.parsed)) {
      this.parser.feed(byte);
      this.parsed += 1;
      if (this.mayRun()) return;
    }
  }

  private mayRun(): boolean {
    if (this.runStart >= 0) return true;
    return (
      this.withRuns && this.screen.column === 0 && this.parser.idle && this.screen.isEmpty(this.screen.row)
    );
  }

  /** Goes on over as many lines as are plain. False when it needs more bytes. */
  private scanRun(): boolean {
    if (this.runStart < 0) this.beginRun();
    let viewStart = this.parsed;
    let view = this.bytes.viewFrom(viewStart);
    for (;;) {
      const at = indexOfControl(view, this.parsed - viewStart);
      if (viewStart + at > this.parsed) this.runHasText = true;
      this.parsed = viewStart + at;
      if (at < view.length) {
        const step = view[at] === lineFeed ? this.endRun(1) : this.scanControl(view[at]);
        if (step === "wait") return false;
        if (step === "leave") return true;
      }
      // A style may have led beyond this block.
      if (this.parsed < viewStart + view.length) continue;
      viewStart = this.parsed;
      view = this.bytes.viewFrom(viewStart);
      if (view.length === 0) return false;
    }
  }

  /** A control character inside a run: a style, the carriage return of a line's end, or what ends the run. */
  private scanControl(byte: number | undefined): Step {
    if (byte === carriageReturn) {
      const next = this.bytes.at(this.parsed + 1);
      if (next === -1) return "wait";
      return next === lineFeed ? this.endRun(2) : this.abandonRun();
    }
    const end = byte === escapeByte ? this.endOfStyle(this.parsed) : 0;
    if (end === -1) return "wait";
    if (end === 0) return this.abandonRun();
    const parameters = String.fromCharCode(...this.bytes.read(this.parsed + 2, end - 1));
    this.screen.style = this.screen.styles.move(this.screen.style, parameters);
    this.parsed = end;
    return "go on";
  }

  private beginRun(): void {
    this.runStart = this.parsed;
    this.runStyle = this.screen.style;
    this.runHasText = false;
  }

  private endRun(feedBytes: number): Step {
    this.showOpenRun();
    this.runStart = -1;
    this.parsed += feedBytes;
    this.screen.nextLine();
    if (!this.mayRun()) return "leave";
    this.beginRun();
    return "go on";
  }

  /** Not a plain line after all: what was scanned goes through the parser, from its first byte to the one at hand. */
  private abandonRun(): Step {
    const from = this.runStart;
    this.runStart = -1;
    this.screen.setPlain(from, 0, this.runStyle);
    this.screen.style = this.runStyle;
    for (let at = from; at <= this.parsed; at++) this.parser.feed(this.bytes.at(at));
    this.parsed += 1;
    return "leave";
  }

  private showOpenRun(): void {
    if (this.runStart < 0) return;
    this.screen.setPlain(this.runStart, this.runHasText ? this.parsed - this.runStart : 0, this.runStyle);
  }

  /** Where the style sequence at `offset` ends; 0 when it is another one, -1 when more bytes are needed to tell. */
  private endOfStyle(offset: number): number {
    for (let at = offset + 1; at < offset + styleBytesMax; at++) {
      const byte = this.bytes.at(at);
      if (byte === -1) return -1;
      if (at === offset + 1) {
        if (byte !== 0x5b) return 0;
      } else if (byte === 0x6d) return at + 1;
      else if (byte < 0x30 || byte > 0x3b) return 0;
    }
    return 0;
  }
}

/** Index, from `from` on, of the first byte that is no text and no tab; the length when there is none. */
function indexOfControl(view: Uint8Array, from: number): number {
  const length = view.length;
  for (let at = from; at < length; at++) {
    const byte = view[at] as number;
    if (byte < 0x20 ? byte !== tab : byte === 0x7f) return at;
  }
  return length;
}
