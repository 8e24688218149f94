import { byteOf, has, inKey, inWord, isBlank, isDigit, latin1, runEnd } from "./bytes.ts";
import { type Continuation, continuation, endOfSecret, secretKind } from "./secret-kind.ts";

/** Bytes to mask. `continued`: they go on from a secret at the end of the text before, which has its mark already. */
export interface MaskSpan {
  readonly from: number;
  readonly to: number;
  readonly continued: boolean;
  readonly secret: Continuation;
}

/** A rule looks at one marker and says what it makes of it by the scan's `secret` or `unsure`, or says nothing. */
export type Rule = (scan: TextScan, at: number) => void;

/**
 * How a text is read.
 * `argument`: one whole command-line argument, so a value reaches to its end.
 * `goesOn`: more text may follow; what its end leaves open is reported by `open` and `unsureFrom`.
 * `rough`: the bytes are a whole message, not one text, so what stands before a marker proves nothing. Finds at least
 * every marker that a scan of the single text would, and records markers, not spans.
 */
export interface ScanMode {
  readonly argument?: boolean;
  readonly goesOn?: boolean;
  readonly rough?: boolean;
  /** The text is cut from a longer one within a word. */
  readonly afterWord?: boolean;
}

const writtenEscapeBytes = 6;

/** One text under examination: what the rules know and what they find. Spans ascend and do not overlap. */
export class TextScan {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
  readonly argument: boolean;
  readonly goesOn: boolean;
  readonly rough: boolean;
  readonly afterWord: boolean;
  readonly spans: MaskSpan[] = [];
  /** Set when the text ends within a secret. */
  open: Continuation | undefined;
  /** From here to the end may be a secret, of the kind `unsureAs`; -1 when nothing is. */
  unsureFrom = -1;
  unsureAs: Continuation | undefined;
  /** Where the search for markers goes on. */
  resume: number;
  /** rough: some rule found a secret at the marker at hand. */
  matched = false;
  private keyRunTo = 0;
  private plainFrom = 0;
  private plainTo = 0;

  constructor(text: { bytes: Uint8Array; from: number; to: number }, mode: ScanMode) {
    this.bytes = text.bytes;
    this.from = text.from;
    this.to = text.to;
    this.argument = mode.argument ?? false;
    this.goesOn = mode.goesOn ?? false;
    this.rough = mode.rough ?? false;
    this.afterWord = mode.afterWord ?? false;
    this.resume = text.from;
  }

  /**
   * Whether a word goes on at `at`. An escaped line feed (`\\n`), a percent code (`%20`) and a colour (`ESC[31m`) end in
   * a letter or digit, but end the word all the same. Never known, and so never true, when rough.
   */
  withinWord(at: number): boolean {
    if (this.rough) return false;
    if (at <= this.from) return this.afterWord;
    if (!has(this.bytes[at - 1], inWord)) return false;
    if (at - 2 >= this.from && this.bytes[at - 2] === byteOf.backslash) return false;
    if (at - 3 >= this.from && this.bytes[at - 3] === byteOf.percent) return false;
    return !this.endsColour(at);
  }

  private endsColour(at: number): boolean {
    let index = at - 2;
    while (index > this.from && (has(this.bytes[index], isDigit) || this.bytes[index] === byteOf.semicolon))
      index -= 1;
    if (index <= this.from || this.bytes[index] !== byteOf.leftBracket) return false;
    return this.bytes[index - 1] === byteOf.escape || this.endsWrittenEscape(index);
  }

  /** `\\u001b`, `\\x1b`, `\\033` or `\\e`. */
  private endsWrittenEscape(to: number): boolean {
    const text = latin1(this.bytes, Math.max(this.from, to - writtenEscapeBytes), to).toLowerCase();
    return /\\(?:u001b|x1b|033|e)$/.test(text);
  }

  /** The end of the run of key bytes around `at`; each run is measured once, however many markers it holds. */
  keyRunEnd(at: number): number {
    if (at >= this.keyRunTo) this.keyRunTo = runEnd(this.bytes, { from: at, to: this.to, bits: inKey });
    return this.keyRunTo;
  }

  /** Where to go on looking for the `@` of an authority that begins at `from`: not twice over the same bytes. */
  behindPlainAuthority(from: number): number {
    return from >= this.plainFrom ? Math.max(from, this.plainTo) : from;
  }

  /** In [from, to) are only bytes of an authority, and no `@`. */
  notePlainAuthority(from: number, to: number): void {
    if (from > this.plainTo || from < this.plainFrom) this.plainFrom = from;
    this.plainTo = to;
  }

  /** A secret of this kind begins at `from`, where at least one byte of it stands. */
  secret(from: number, kind: Continuation, continued = false): void {
    if (this.rough) {
      this.matched = true;
      return;
    }
    if (kind.kind === secretKind.flagWords) this.flagWords(from, kind, continued);
    else this.resume = this.mask(from, kind, continued);
  }

  /** A secret that ends at `to`, whatever stands there. */
  secretUpTo(from: number, to: number, kind: Continuation): void {
    if (this.rough) this.matched = true;
    else {
      this.spans.push({ from, to, continued: false, secret: kind });
      this.resume = to;
    }
  }

  /** What begins at `from` and reaches the end of the text will be a secret or not, by what follows. */
  unsure(from: number, kind: Continuation): void {
    if (!this.goesOn || (this.unsureFrom >= 0 && this.unsureFrom <= from)) return;
    this.unsureFrom = from;
    this.unsureAs = kind;
  }

  private mask(from: number, kind: Continuation, continued: boolean): number {
    const { end, open } = endOfSecret(this.bytes, { from, to: this.to }, kind);
    if (end > from) this.spans.push({ from, to: end, continued, secret: kind });
    if (this.goesOn) this.open = open;
    return end;
  }

  private flagWords(from: number, kind: Continuation, continued: boolean): void {
    let at = from;
    let withinWord = continued && kind.progress[0] !== 1;
    for (;;) {
      if (!withinWord) {
        at = runEnd(this.bytes, { from: at, to: this.to, bits: isBlank });
        if (at === this.to) {
          if (this.goesOn) this.open = { ...continuation(secretKind.flagWords), progress: [1] };
          break;
        }
        const byte = this.bytes[at] as number;
        if (byte < byteOf.space || (byte === byteOf.dash && (at > from || continued))) break;
      }
      at = this.mask(at, kind, withinWord);
      if (at === this.to) break;
      withinWord = false;
    }
    this.resume = at;
  }
}
