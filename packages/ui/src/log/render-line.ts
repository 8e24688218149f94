import { Cells, type Span } from "./cells.ts";
import { ControlParser } from "./control-parser.ts";
import type { StyleTable } from "./style-table.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const escapeByte = 0x1b;
const finalOfStyle = 0x6d;

/**
 * The spans of a line whose only control sequences are styles. `bytes` begin in style `style`; an incomplete sequence at
 * their end is left out.
 */
export function spansOf(bytes: Uint8Array, style: number, styles: StyleTable): Span[] {
  const spans: Span[] = [];
  let current = style;
  let from = 0;
  const flush = (to: number): void => {
    if (to === from) return;
    const text = decoder.decode(bytes.subarray(from, to));
    const last = spans.at(-1);
    if (last?.style === current) spans[spans.length - 1] = { text: last.text + text, style: current };
    else spans.push({ text, style: current });
  };
  for (let at = bytes.indexOf(escapeByte); at !== -1; at = bytes.indexOf(escapeByte, from)) {
    flush(at);
    const end = bytes.indexOf(finalOfStyle, at);
    if (end === -1) return spans;
    current = styles.move(current, decoder.decode(bytes.subarray(at + 2, end)));
    from = end + 1;
  }
  flush(bytes.length);
  return spans;
}

/** The same line as cells, to be written over. */
export function cellsOf(bytes: Uint8Array, style: number, styles: StyleTable): Cells {
  const cells = new Cells();
  let current = style;
  let column = 0;
  const parser = new ControlParser({
    print: (codePoint) => {
      column = cells.put(column, codePoint, current);
    },
    control: (byte) => {
      if (byte === 0x09) column = nextTabStop(column);
    },
    sequence: (final, parameters) => {
      if (final === "m") current = styles.move(current, parameters);
    },
    escape: () => {},
  });
  for (const byte of bytes) parser.feed(byte);
  return cells;
}

/** Cells as bytes that `spansOf` reads back, beginning in style 0. */
export function bytesOf(cells: Cells, styles: StyleTable): Uint8Array {
  const text = cells.spans().map((span) => `\u001b[${styles.parameters(span.style)}m${span.text}`);
  return new TextEncoder().encode(text.join(""));
}

export function nextTabStop(column: number): number {
  return column - (column % 8) + 8;
}
