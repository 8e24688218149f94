import fc from "fast-check";
import { expect, test } from "vitest";
import { createMarkerSearch } from "./marker-search.ts";

const markers = ["toke", "ghp_", "://", "eyj", "--be", "_env", "sk-", "oken"] as const;
const search = createMarkerSearch(markers.map((marker, index) => [marker, index + 1] as const));

/** Every marker by comparison at every offset; of two at one offset the longer. */
function naively(text: string): string[] {
  const found: string[] = [];
  const folded = text.toLowerCase();
  for (let at = 0; at < text.length; at += 1) {
    const here = markers.filter((marker) => folded.startsWith(marker, at));
    const longest = here.sort((a, b) => b.length - a.length)[0];
    if (longest !== undefined) found.push(`${at}:${longest}`);
  }
  return found;
}

function searched(bytes: Uint8Array, from: number, to: number): string[] {
  const found: string[] = [];
  for (let at = from; search.next(bytes, at, to); at = search.at + 1) {
    found.push(`${search.at - from}:${markers[search.rule - 1]}`);
  }
  return found;
}

// Built from pieces of markers, so that whole ones, broken ones and overlapping ones are frequent.
const piece = fc.constantFrom(
  "to",
  "ke",
  "toke",
  "TOKE",
  "n",
  "gh",
  "p_",
  "Ghp_",
  ":",
  "//",
  "://",
  "ey",
  "J",
  "--",
  "be",
  "_",
  "env",
  "sk-",
  "s",
  "\u0000",
  "ÿ",
);
const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));

test("all markers are found, in order, at odd and even addresses and at both ends", () => {
  fc.assert(
    fc.property(text, fc.nat(3), fc.nat(3), (content, before, after) => {
      const inner = Buffer.from(content, "latin1");
      const buffer = new ArrayBuffer(before + inner.length + after);
      const whole = new Uint8Array(buffer).fill(0x74);
      whole.set(inner, before);
      expect(searched(whole, before, before + inner.length)).toEqual(naively(content));
      const view = new Uint8Array(buffer, before, inner.length);
      expect(searched(view, 0, inner.length)).toEqual(naively(content));
    }),
    { numRuns: 2000 },
  );
});

test("nothing outside the range is found", () => {
  const bytes = Buffer.from("toketoketoke");
  expect(searched(bytes, 1, 11)).toEqual(["3:toke"]);
});
