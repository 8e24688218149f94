import { FrameSplitter } from "@millrace/proto/bep/frames";

const lineFeed = 0x0a;

/** What is wrong with a segment of events: how many there are, and in how many bytes. Undefined: nothing. */
export function checkEventContent(
  content: Uint8Array,
  wanted: { readonly bytes: number; readonly count: number },
): string | undefined {
  if (content.length !== wanted.bytes)
    return `it unpacks to ${content.length} bytes instead of ${wanted.bytes}`;
  const splitter = new FrameSplitter({ messageBytesMax: Number.MAX_SAFE_INTEGER });
  let count = 0;
  for (const frame of splitter.push(content)) {
    if (frame.kind === "broken") return frame.message;
    count += 1;
  }
  const broken = splitter.end();
  if (broken !== undefined) return broken.message;
  return count === wanted.count ? undefined : `it holds ${count} events instead of ${wanted.count}`;
}

/** What is wrong with a segment of log text; `count` is that of its line feeds. */
export function checkLogContent(
  content: Uint8Array,
  wanted: { readonly bytes: number; readonly count: number },
): string | undefined {
  if (content.length !== wanted.bytes)
    return `it unpacks to ${content.length} bytes instead of ${wanted.bytes}`;
  let lines = 0;
  for (let at = content.indexOf(lineFeed); at !== -1; at = content.indexOf(lineFeed, at + 1)) lines += 1;
  return lines === wanted.count ? undefined : `it holds ${lines} lines instead of ${wanted.count}`;
}
