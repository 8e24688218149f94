import { applyEdits, maskText } from "./edits.ts";
import { scanText } from "./scan-text.ts";
import { makeSecrets, type PlantedSecret } from "./secrets.fixture.ts";
import type { ScanMode } from "./text-scan.ts";

/** The text with its secrets masked, read by the given mode. */
export function masked(text: string, mode: ScanMode = {}): string {
  const bytes = Buffer.from(text);
  const { spans } = scanText({ bytes, from: 0, to: bytes.length }, mode);
  const edits = spans.map((span) => ({ from: span.from, to: span.to, bytes: maskText(span) }));
  return Buffer.from(applyEdits(bytes, { from: 0, to: bytes.length }, edits)).toString();
}

const filler = "q7Rz1Xc5Vb9Nm3Lk8Jh2Gf6Ds0Ap4Yt7Ur1Ie5Wo";
const hex = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c";
const upper = "QWERTYUIOPASDFGH";

/** One secret of each kind, all of the same letters. */
export const plantedSecrets: readonly PlantedSecret[] = makeSecrets({
  base62: (length) => filler.repeat(2).slice(0, length),
  hex: (length) => hex.slice(0, length),
  upper: (length) => upper.slice(0, length),
});

/** What is secret in them, without the words around it that anyone may write. */
export const secretMaterial: readonly string[] = [
  filler,
  hex,
  upper,
  ...plantedSecrets
    .filter(({ kind }) => kind === "JSON Web Token" || kind === "basic authorisation")
    .map(({ material }) => material),
];

const windowBytes = 8;

/** The first eight-byte piece of `secret` that stands in `bytes`, if any. */
export function survivor(bytes: Uint8Array, secret: string): string | undefined {
  const haystack = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at + windowBytes <= secret.length; at += 1) {
    const window = secret.slice(at, at + windowBytes);
    if (haystack.includes(window)) return window;
  }
  return undefined;
}
