import {
  type FlagKind,
  flagKind,
  maskArgument,
  maskFlagValue,
  pendingAfter,
  type Range,
} from "./arguments.ts";
import { latin1 } from "./bytes.ts";
import type { ConsoleText } from "./console-detector.ts";
import { judgeName } from "./credential-names.ts";
import { type Edit, lengthPrefix, maskText } from "./edits.ts";
import type { Content, FieldShape, MessageShape } from "./message-shapes.ts";
import { maskOpaque, maskRemainder } from "./opaque.ts";
import { type Places, scanText } from "./scan-text.ts";
import { WireCursor } from "./wire-cursor.ts";

// As deep as protobuf implementations decode.
const depthMax = 100;
const nothing = new Uint8Array(0);

/**
 * Walks those parts of a message that hold places to look at, and collects the edits that mask secrets: the text itself
 * and the lengths of all fields around it. Everything else keeps its bytes.
 */
export class EventWalker {
  readonly edits: Edit[] = [];
  private readonly bytes: Uint8Array;
  private readonly places: Places;
  private nextPlace = 0;
  private readonly consoleTexts: readonly ConsoleText[];
  private readonly maskedTexts: readonly ConsoleText[];
  /** The flag that the last argument was, its value to come. */
  private pending: FlagKind | undefined;
  /** Of the flag policy at hand. */
  private policyKind: FlagKind | undefined;
  private depth = 0;

  constructor(bytes: Uint8Array, places: Places, consoleTexts: readonly ConsoleText[]) {
    this.bytes = bytes;
    this.places = places;
    this.consoleTexts = consoleTexts;
    this.maskedTexts = consoleTexts.filter((text) => text.spans.length > 0);
  }

  /** Walks `bytes[from, to)`; the answer is by how much the edits in it change its length. */
  walk(shape: MessageShape, from: number, to: number): number {
    this.depth += 1;
    const before = this.pending;
    this.pending = undefined;
    let delta = 0;
    if (this.depth > depthMax) this.opaque(from, to);
    else if (shape.special === "option") delta = this.walkOption(shape, { from, to, pending: before });
    else delta = this.walkFields(shape, from, to);
    if (shape.special !== "option") this.pending = undefined;
    this.depth -= 1;
    return delta;
  }

  /** Masks in place what has no known schema. */
  opaque(from: number, to: number): number {
    if (this.isOfInterest(from, to)) {
      for (const edit of maskOpaque({ bytes: this.bytes, from, to })) this.edits.push(edit);
    }
    return 0;
  }

  /** Masks in place the rest of a message that is none from there on: a secret may have begun before. */
  private broken(brokenFrom: number, message: Range): void {
    const freeFrom = Math.max(message.from, this.edits.at(-1)?.to ?? 0);
    for (const edit of maskRemainder(this.bytes, { ...message, freeFrom, brokenFrom })) this.edits.push(edit);
  }

  /** Applies `rewrite` to a field's value and corrects the field's length. The answer is the change of length. */
  field(cursor: WireCursor, rewrite: () => number): number {
    const { from, to, lengthFrom } = cursor;
    const slot = this.edits.length;
    // The length comes before the edits in it, but is known after them.
    this.edits.push({ from, to: from, bytes: nothing });
    const delta = rewrite();
    if (this.edits.length === slot + 1) this.edits.pop();
    if (delta === 0) return 0;
    const prefix = lengthPrefix(to - from + delta);
    this.edits[slot] = { from: lengthFrom, to: from, bytes: prefix };
    return delta + prefix.length - (from - lengthFrom);
  }

  private walkFields(shape: MessageShape, from: number, to: number): number {
    const named = shape.pair === undefined ? undefined : this.textOf(shape.pair.name, from, to);
    const isCredential = named !== undefined && judgeName(named).contains;
    if (shape.special === "flag-policy") this.policyKind = flagKind(this.textOf(1, from, to) ?? "");
    let delta = 0;
    const cursor = new WireCursor(this.bytes, from, to);
    while (cursor.next()) {
      if (!cursor.isDelimited) continue;
      if (isCredential && cursor.field === shape.pair?.value) {
        delta += this.field(cursor, () => this.mask([cursor]));
      } else delta += this.walkField(cursor, shape.fields.get(cursor.field));
    }
    if (cursor.brokenFrom >= 0) this.broken(cursor.brokenFrom, { from, to });
    if (shape.special === "flag-policy") this.policyKind = undefined;
    return delta;
  }

  private walkField(cursor: WireCursor, shape: FieldShape | undefined): number {
    const { from, to } = cursor;
    const content = typeof shape === "function" ? shape() : shape;
    if (!this.mayBeNamed(content) && !this.isOfInterest(from, to)) return 0;
    if (content === undefined) return this.opaque(from, to);
    return this.field(cursor, () => this.rewrite(content, from, to));
  }

  /** What a flag in another field names is of interest whatever it looks like. */
  private mayBeNamed(content: Content | undefined): boolean {
    if (this.pending !== undefined && content === "argument") return true;
    if (this.policyKind !== undefined && content === "flag-value") return true;
    return typeof content === "object" && (this.pending !== undefined || this.policyKind !== undefined);
  }

  private rewrite(content: Content, from: number, to: number): number {
    const text = { bytes: this.bytes, from, to };
    if (content === "text") return this.mask(this.consoleSpans(from, to) ?? scanText(text, {}).spans);
    if (content === "flag-value") return this.mask(maskFlagValue(text, this.policyKind));
    if (content !== "argument") return this.walk(content, from, to);
    const spans = maskArgument(text, this.pending);
    this.pending = pendingAfter(text);
    return this.mask(spans);
  }

  /** command_line.Option: the whole as typed (1), the flag's name (2) and its value (3). */
  private walkOption(
    shape: MessageShape,
    option: { from: number; to: number; pending: FlagKind | undefined },
  ): number {
    const kind = flagKind(this.textOf(2, option.from, option.to) ?? "");
    let pending: FlagKind | undefined;
    let delta = 0;
    const cursor = new WireCursor(this.bytes, option.from, option.to);
    while (cursor.next()) {
      if (!cursor.isDelimited) continue;
      const text = { bytes: this.bytes, from: cursor.from, to: cursor.to };
      const isValue = cursor.field === 3;
      if (cursor.field === 1 || (isValue && kind === undefined)) {
        const spans = maskArgument(text, option.pending);
        delta += this.field(cursor, () => this.mask(spans));
        pending ??= pendingAfter(text);
      } else if (isValue) delta += this.field(cursor, () => this.mask(maskFlagValue(text, kind)));
      else delta += this.walkField(cursor, shape.fields.get(cursor.field));
    }
    if (cursor.brokenFrom >= 0) this.broken(cursor.brokenFrom, option);
    this.pending = pending;
    return delta;
  }

  /** Adds the edits that mask the ranges; the answer is the change of length. */
  private mask(ranges: readonly (Range & { readonly continued?: boolean })[]): number {
    let delta = 0;
    for (const { from, to, continued } of ranges) {
      if (from === to) continue;
      const bytes = maskText({ continued: continued ?? false });
      this.edits.push({ from, to, bytes });
      delta += bytes.length - (to - from);
    }
    return delta;
  }

  /** What the detector of the stream decided on a text, with what came before and after it in mind. */
  private consoleSpans(from: number, to: number): ConsoleText["spans"] | undefined {
    return this.consoleTexts.find((text) => text.from === from && text.to === to)?.spans;
  }

  private isOfInterest(from: number, to: number): boolean {
    if (this.maskedTexts.some((text) => text.from >= from && text.to <= to)) return true;
    if (this.places === "everywhere") return true;
    while ((this.places[this.nextPlace] ?? Number.POSITIVE_INFINITY) < from) this.nextPlace += 1;
    return (this.places[this.nextPlace] ?? Number.POSITIVE_INFINITY) < to;
  }

  /** The text of a field of the message, if it is there and short enough to be a name. */
  private textOf(field: number, from: number, to: number): string | undefined {
    let text: string | undefined;
    const cursor = new WireCursor(this.bytes, from, to);
    while (cursor.next()) {
      if (cursor.isDelimited && cursor.field === field && cursor.to - cursor.from <= 256) {
        text = latin1(this.bytes, cursor.from, cursor.to);
      }
    }
    return text;
  }
}
