/** Height of a line of the log in pixels. */
export const lineHeight = 20;

/** Browsers do not lay out elements much higher than this; Firefox stops at 17.8 million. */
const heightMax = 8_000_000;

/** Which lines are in view and where they stand. */
export interface LogWindow {
  /** Height of all lines together, as far as the browser can do it. */
  readonly height: number;
  /** First line to draw, and the one after the last. */
  readonly first: number;
  readonly last: number;
  /** Pixels from the top of the whole to the top of line `first`. */
  readonly top: number;
}

/** Lines drawn beyond the edges, so that a turn of the wheel shows no gap. */
const spareLines = 20;

/**
 * The part of `lineCount` lines that a view of `viewHeight` shows at `scrollTop`. Up to 400,000 lines a pixel of scrolling is a pixel
 * of text; beyond, the scroll bar is a scale: its top is the first line and its bottom the last.
 */
export function logWindow(of: { lineCount: number; scrollTop: number; viewHeight: number }): LogWindow {
  const whole = of.lineCount * lineHeight;
  const height = Math.min(whole, heightMax);
  const scrolledMax = Math.max(0, height - of.viewHeight);
  const scrollTop = Math.min(Math.max(0, of.scrollTop), scrolledMax);
  const scale = scrolledMax === 0 ? 1 : Math.max(0, whole - of.viewHeight) / scrolledMax;
  const textTop = scrollTop * scale;
  const first = Math.max(0, Math.floor(textTop / lineHeight) - spareLines);
  const last = Math.min(of.lineCount, Math.ceil((textTop + of.viewHeight) / lineHeight) + spareLines);
  return { height, first, last, top: scrollTop + first * lineHeight - textTop };
}

/** Where to scroll so that `line` stands in the middle of the view. */
export function scrollTopOf(line: number, of: { lineCount: number; viewHeight: number }): number {
  const whole = of.lineCount * lineHeight;
  const height = Math.min(whole, heightMax);
  const scrolledMax = Math.max(0, height - of.viewHeight);
  const textMax = Math.max(1, whole - of.viewHeight);
  const textTop = Math.min(Math.max(0, line * lineHeight - of.viewHeight / 2 + lineHeight / 2), textMax);
  return (textTop / textMax) * scrolledMax;
}
