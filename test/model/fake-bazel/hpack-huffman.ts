// RFC 7541 appendix B: the bits of each symbol's code, by symbol; the 257th is the end of the string. The code is
// canonical, so that the lengths determine it.
const lengths = [
  ...[13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28],
  ...[28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28],
  ...[6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6],
  ...[5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10],
  ...[13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7],
  ...[7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6],
  ...[15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5],
  ...[6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28],
  ...[20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23],
  ...[24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24],
  ...[22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23],
  ...[21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23],
  ...[26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25],
  ...[19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27],
  ...[20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23],
  ...[26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26],
  30,
];
const lengthMax = 30;
const endOfString = 256;

/** Symbols in the order of their codes; of each length, its first code and where its symbols begin. */
const symbols = [...lengths.keys()].sort((a, b) => lengthOf(a) - lengthOf(b) || a - b);
const firstCodes = new Uint32Array(lengthMax + 1);
const firstPlaces = new Uint32Array(lengthMax + 1);
const counts = new Uint32Array(lengthMax + 1);
for (const length of lengths) counts[length] = (counts[length] ?? 0) + 1;
let code = 0;
let place = 0;
for (let length = 1; length <= lengthMax; length += 1) {
  code *= 2;
  firstCodes[length] = code;
  firstPlaces[length] = place;
  code += counts[length] ?? 0;
  place += counts[length] ?? 0;
}

function lengthOf(symbol: number): number {
  return lengths[symbol] ?? 0;
}

/** Decodes a string of HPACK's Huffman code. Throws when it holds the end-of-string code or more than a byte of padding. */
export function decodeHuffman(bytes: Uint8Array): string {
  let text = "";
  let code = 0;
  let length = 0;
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit -= 1) {
      code = code * 2 + ((byte >> bit) & 1);
      length += 1;
      const nth = code - (firstCodes[length] ?? 0);
      if (nth >= (counts[length] ?? 0)) {
        if (length === lengthMax) throw new Error("HPACK: no such Huffman code");
        continue;
      }
      const symbol = symbols[(firstPlaces[length] ?? 0) + nth] ?? endOfString;
      if (symbol === endOfString) throw new Error("HPACK: the end of a string within it");
      text += String.fromCharCode(symbol);
      code = 0;
      length = 0;
    }
  }
  if (length > 7 || code !== 2 ** length - 1) throw new Error("HPACK: a string ends within a Huffman code");
  return text;
}
