import { encodedBytes, type Json, type JsonObject, type ResultEncoding } from "./encode.ts";

/** A list in an answer that may be shortened from its end. */
export interface Shrinkable {
  readonly name: string;
  readonly items: readonly Json[];
  /** Items that stay even when that is over budget. */
  readonly minimum: number;
}

/** What had to be left out of an answer. */
export interface Packed {
  readonly value: JsonObject;
  readonly dropped: ReadonlyMap<string, number>;
}

/**
 * Fits an answer into `maxBytes`. Lists are cut in the given order, each from its end. Items are measured once, so the
 * work grows with the answer, not with its square; a table encoding is smaller than the sum, never larger, and a last look at
 * the real size takes off what is still too much.
 */
export function pack(
  fixed: JsonObject,
  at: { lists: readonly Shrinkable[]; maxBytes: number; encoding: ResultEncoding },
): Packed {
  const kept = new Map(at.lists.map((list) => [list.name, list.items.length]));
  const build = (): JsonObject => {
    const shrunk = at.lists
      .map((list) => [list.name, list.items.slice(0, kept.get(list.name))] as const)
      .filter(([, items]) => items.length > 0);
    return { ...fixed, ...Object.fromEntries(shrunk) };
  };
  for (let round = 0; round < 8; round += 1) {
    let excess = encodedBytes(build(), at.encoding) - at.maxBytes;
    if (excess <= 0) break;
    for (const list of at.lists) {
      let count = kept.get(list.name) ?? 0;
      while (excess > 0 && count > list.minimum) {
        count -= 1;
        excess -= itemBytes(list.items[count] ?? null, at.encoding);
      }
      kept.set(list.name, count);
    }
  }
  const dropped = new Map(
    at.lists.map((list) => [list.name, list.items.length - (kept.get(list.name) ?? 0)] as const),
  );
  return { value: build(), dropped };
}

/** What an item costs at least: its values, without what a table writes once for all. */
function itemBytes(item: Json, encoding: ResultEncoding): number {
  const factor = encoding === "both" ? 2 : 1;
  if (encoding !== "toon" || typeof item !== "object" || item === null) {
    return factor * (Buffer.byteLength(JSON.stringify(item)) + 1);
  }
  return Object.values(item).reduce<number>(
    (sum, value) => sum + Buffer.byteLength(JSON.stringify(value ?? null)),
    0,
  );
}

/** `text` within `bytes`, cut at a character. */
export function cutText(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const cut = Buffer.from(text)
    .subarray(0, bytes - 3)
    .toString("utf8");
  return `${cut.replace(/\uFFFD+$/, "")}…`;
}
