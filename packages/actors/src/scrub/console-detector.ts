import { byteOf, has, inWord, isBlank, runEnd } from "./bytes.ts";
import { contextBytesMax, type DetectorState, insideOf, isNeutral, neutral } from "./detector-state.ts";
import { scanText } from "./scan-text.ts";
import { type Continuation, continuation, endOfSecret, secretKind } from "./secret-kind.ts";
import type { MaskSpan, TextScan } from "./text-scan.ts";

/** The console text that one progress event adds to one stream, and what the detector found in it. */
export class ConsoleText {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
  /** What to mask, as ranges of `bytes`, ascending. Final once `stateAfter` is set. */
  readonly spans: { readonly from: number; readonly to: number; readonly continued: boolean }[] = [];
  /** The detector's state behind this text; undefined while its end may be the beginning of a secret. */
  stateAfter: DetectorState | undefined;

  constructor(bytes: Uint8Array, from: number, to: number) {
    this.bytes = bytes;
    this.from = from;
    this.to = to;
  }
}

/** A part of a text in the bytes under examination, where it begins at `at`. */
interface Piece {
  readonly text: ConsoleText;
  readonly from: number;
  readonly to: number;
  readonly at: number;
}

/** Context, what is undecided of earlier texts, and the new text, back to back. */
interface Joint {
  readonly bytes: Uint8Array;
  /** Where the bytes under examination begin and end; context first. */
  readonly start: number;
  readonly end: number;
  /** Where the context ends. */
  readonly open: number;
  readonly pieces: readonly Piece[];
}

// No rule looks back or waits for longer than this within a line.
const lineTailBytes = 2048;

/**
 * Finds secrets in the texts of one console stream, wherever they are split. It decides on the end of a text by the
 * next one; until then that text has no `stateAfter`. The undecided end is at most a few hundred bytes.
 */
export class ConsoleDetector {
  /** Behind the last text, or, when there is an undecided tail, before it. */
  private state: DetectorState;
  private tail: readonly Piece[] = [];
  private tailKind: Continuation | undefined;

  constructor(state: DetectorState) {
    this.state = state;
  }

  /** Takes the next text of the stream. `clean`: no marker in it, so only its end needs a look. */
  take(text: ConsoleText, clean: boolean): void {
    let from = text.from;
    if (this.isMidLine && text.to - from > lineTailBytes) from = this.takeLine(text);
    if (clean && !this.isMidLine && isNeutral(this.state)) {
      const line = text.bytes.lastIndexOf(byteOf.lineFeed, text.to - 1) + 1;
      if (line >= text.to) {
        text.stateAfter = neutral;
        return;
      }
      from = Math.max(from, line, text.to - lineTailBytes);
    }
    this.decide(
      this.join({ text, from, to: text.to }),
      from > text.from && has(text.bytes[from - 1], inWord),
    );
  }

  /** Something before the next text belongs to its first line: that line is put together, but not the whole text. */
  private get isMidLine(): boolean {
    return this.tail.length > 0 || this.state.context.length > 0;
  }

  private takeLine(text: ConsoleText): number {
    const lineTo = text.bytes.indexOf(byteOf.lineFeed, text.from) + 1;
    if (lineTo === 0 || lineTo >= text.to) return text.from;
    this.decide(this.join({ text, from: text.from, to: lineTo }), false);
    text.stateAfter = undefined;
    return lineTo;
  }

  /** Nothing more is waited for: the undecided tail is masked, and what follows is taken for more of it. */
  release(): void {
    const kind = this.tailKind;
    if (kind === undefined) return;
    const joint = this.joinPieces(this.tail, new Uint8Array(0));
    for (const piece of this.tail) {
      if (piece.to > piece.from)
        piece.text.spans.push({ from: piece.from, to: piece.to, continued: piece !== this.tail[0] });
    }
    for (const piece of joint.pieces) {
      const to = piece.at + piece.to - piece.from;
      piece.text.stateAfter = insideOf(endOfSecret(joint.bytes, { from: 0, to }, kind).open);
      this.state = piece.text.stateAfter;
    }
    this.tail = [];
    this.tailKind = undefined;
  }

  private join(part: Omit<Piece, "at">): Joint {
    const { text, from, to } = part;
    if (this.isMidLine) return this.joinPieces([...this.tail, { ...part, at: 0 }], this.state.context);
    return { bytes: text.bytes, start: from, end: to, open: from, pieces: [{ text, from, to, at: from }] };
  }

  private joinPieces(pieces: readonly Piece[], context: Uint8Array): Joint {
    const parts: Uint8Array[] = [context];
    let end = context.length;
    const placed = pieces.map((piece) => {
      const at = end;
      parts.push(piece.text.bytes.subarray(piece.from, piece.to));
      end += piece.to - piece.from;
      return { ...piece, at };
    });
    return { bytes: Buffer.concat(parts), start: 0, end, open: context.length, pieces: placed };
  }

  private decide(joint: Joint, cutInWord: boolean): void {
    const text = { bytes: joint.bytes, from: joint.start, to: joint.end };
    const afterWord = this.state.afterWord || cutInWord;
    const scan = scanText(text, { goesOn: true, afterWord }, this.state.inside);
    for (const piece of joint.pieces) handOut(scan.spans, piece, joint.open);
    const decided = scan.unsureFrom < 0 ? joint.end : Math.max(scan.unsureFrom, joint.open);
    const tail: Piece[] = [];
    for (const piece of joint.pieces) {
      const end = piece.at + piece.to - piece.from;
      if (end <= decided) piece.text.stateAfter = stateAt(scan, joint, end);
      else tail.push({ ...piece, from: piece.from + Math.max(0, decided - piece.at) });
    }
    this.state = stateAt(scan, joint, decided);
    this.tail = tail;
    this.tailKind = tail.length === 0 ? undefined : scan.unsureAs;
  }
}

/** Gives a piece its share of the spans. What lies in the context was let through before and stays. */
function handOut(spans: readonly MaskSpan[], piece: Piece, open: number): void {
  const length = piece.to - piece.from;
  for (const span of spans) {
    const from = Math.max(span.from, open) - piece.at;
    const to = Math.min(span.to - piece.at, length);
    if (to <= Math.max(from, 0)) continue;
    piece.text.spans.push({
      from: piece.from + Math.max(from, 0),
      to: piece.from + to,
      continued: from < 0 || span.continued,
    });
  }
}

/** The state between two bytes of what was scanned, as a scan of the first part alone would leave it. */
function stateAt(scan: TextScan, joint: Joint, boundary: number): DetectorState {
  if (boundary === joint.end && scan.open !== undefined) return insideOf(scan.open);
  let clearFrom = joint.start;
  for (const span of scan.spans) {
    if (span.from >= boundary) break;
    if (span.to >= boundary) {
      return insideOf(endOfSecret(joint.bytes, { from: span.from, to: boundary }, span.secret).open);
    }
    if (span.secret.kind === secretKind.flagWords && isBlankBetween(joint.bytes, span.to, boundary)) {
      return insideOf({ ...continuation(secretKind.flagWords), progress: [1] });
    }
    clearFrom = span.to;
  }
  return contextBefore(joint, { clearFrom, boundary, afterWord: scan.afterWord });
}

function isBlankBetween(bytes: Uint8Array, from: number, to: number): boolean {
  return runEnd(bytes, { from, to, bits: isBlank }) === to;
}

/** The clear bytes of the line that ends at `boundary`. */
function contextBefore(
  joint: Joint,
  at: { clearFrom: number; boundary: number; afterWord: boolean },
): DetectorState {
  const { clearFrom, boundary, afterWord } = at;
  const { bytes } = joint;
  const limit = Math.max(clearFrom, boundary - contextBytesMax);
  let from = boundary;
  while (from > limit && bytes[from - 1] !== byteOf.lineFeed) from -= 1;
  if (from === boundary) return neutral;
  const cut = from === limit && from > clearFrom;
  return {
    inside: undefined,
    context: Uint8Array.from(bytes.subarray(from, boundary)),
    afterWord: cut ? has(bytes[from - 1], inWord) : from === joint.start && afterWord,
  };
}
