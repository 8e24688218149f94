import type { Letters } from "@millrace/actors/scrub/secrets.fixture";

const lower = "abcdefghijklmnopqrstuvwxyz";
const upper = lower.toUpperCase();
const digits = "0123456789";

/** Made-up letters, the same for the same seed. No two runs of eight are ever alike, or a hit would not say whose it is. */
export function lettersOf(seed: number): Letters {
  let state = seed;
  const next = (below: number): number => {
    // Mulberry32.
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) % below;
  };
  const from = (alphabet: string, length: number): string =>
    Array.from({ length }, () => alphabet[next(alphabet.length)]).join("");
  return {
    // A capital letter and a digit at the start: some tokens are known by having both.
    base62: (length) => `${from(upper, 1)}${from(digits, 1)}${from(lower + upper + digits, length - 2)}`,
    hex: (length) => from("0123456789abcdef", length),
    upper: (length) => from(upper + digits, length),
  };
}
