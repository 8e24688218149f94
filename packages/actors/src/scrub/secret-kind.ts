import {
  byteOf,
  classOf,
  has,
  inAuthority,
  inBase64,
  inDottedKey,
  inKey,
  inPath,
  inQuery,
  inToken68,
  inValue,
  runEnd,
} from "./bytes.ts";

/** Where a secret ends, once it has begun. The numbers are stored in carries: never give one another meaning. */
export const secretKind = {
  key: 1,
  dottedKey: 2,
  token68: 3,
  path: 4,
  value: 5,
  query: 6,
  /** Up to the quote that closes it, or the end of the line. */
  quoted: 7,
  line: 8,
  /** The words after a header flag, up to one that begins with a dash, or the end of the line. */
  flagWords: 9,
  pem: 10,
  /** Up to the `@` of a URL's authority. */
  userinfo: 11,
  /** Up to the end of an argument; never goes on in another text. */
  rest: 12,
} as const;
export type SecretKind = (typeof secretKind)[keyof typeof secretKind];

/** All that must be remembered of a secret in order to find its end: no byte of it. */
export interface Continuation {
  readonly kind: SecretKind;
  /** quoted: the quote, and how many backslashes stand before it where it opens and closes. */
  readonly quote: number;
  readonly depth: number;
  /** quoted: backslashes just passed. flagWords: 1 when the next byte begins a word. pem: see `PemProgress`. */
  readonly progress: readonly number[];
}

export function continuation(kind: SecretKind): Continuation {
  return { kind, quote: 0, depth: 0, progress: [] };
}

export function quoted(quote: number, depth: number): Continuation {
  return { kind: secretKind.quoted, quote, depth, progress: [0] };
}

const classes: Partial<Record<SecretKind, number>> = {
  [secretKind.key]: inKey,
  [secretKind.dottedKey]: inDottedKey,
  [secretKind.token68]: inToken68,
  [secretKind.path]: inPath,
  [secretKind.value]: inValue,
  [secretKind.query]: inQuery,
};

/** Where a secret ends, and how it goes on when the text ends first. */
export interface SecretEnd {
  readonly end: number;
  readonly open: Continuation | undefined;
}

/** The end of a secret of this kind whose next byte is at `from`. `flagWords` ends here at the end of a word. */
export function endOfSecret(
  bytes: Uint8Array,
  range: { from: number; to: number },
  secret: Continuation,
): SecretEnd {
  const bits = classes[secret.kind];
  if (bits !== undefined) return endOfRun(runEnd(bytes, { ...range, bits }), range.to, secret);
  switch (secret.kind) {
    case secretKind.quoted:
      return endOfQuoted(bytes, range, secret);
    case secretKind.line:
      return endOfRun(endOfLine(bytes, range), range.to, secret);
    case secretKind.flagWords:
      return endOfRun(endOfWord(bytes, range), range.to, { ...secret, progress: [0] });
    case secretKind.pem:
      return endOfPem(bytes, range, secret);
    case secretKind.userinfo:
      return endOfRun(endOfUserinfo(bytes, range), range.to, secret);
    default:
      return { end: range.to, open: undefined };
  }
}

function endOfRun(end: number, to: number, secret: Continuation): SecretEnd {
  return { end, open: end === to ? secret : undefined };
}

function endOfLine(bytes: Uint8Array, range: { from: number; to: number }): number {
  let at = range.from;
  while (at < range.to && bytes[at] !== byteOf.lineFeed && bytes[at] !== byteOf.carriageReturn) at += 1;
  return at;
}

function endOfWord(bytes: Uint8Array, range: { from: number; to: number }): number {
  let at = range.from;
  while (at < range.to && (bytes[at] as number) > byteOf.space) at += 1;
  return at;
}

function endOfUserinfo(bytes: Uint8Array, range: { from: number; to: number }): number {
  let at = range.from;
  while (at < range.to && bytes[at] !== byteOf.at && has(bytes[at], inAuthority)) at += 1;
  return at;
}

/**
 * A quote closes when as many backslashes stand before it as before the one that opened, not counting escaped
 * backslashes: with depth d each level doubles, so the run of backslashes is d modulo 2(d + 1).
 */
function endOfQuoted(
  bytes: Uint8Array,
  range: { from: number; to: number },
  secret: Continuation,
): SecretEnd {
  let backslashes = secret.progress[0] ?? 0;
  const modulus = 2 * (secret.depth + 1);
  for (let at = range.from; at < range.to; at += 1) {
    const byte = bytes[at];
    if (byte === byteOf.backslash) backslashes += 1;
    else {
      if (byte === secret.quote && backslashes % modulus === secret.depth) {
        return { end: Math.max(range.from, at - secret.depth), open: undefined };
      }
      if (byte === byteOf.lineFeed) return { end: at, open: undefined };
      backslashes = 0;
    }
  }
  return { end: range.to, open: { ...secret, progress: [backslashes % modulus] } };
}

const pemBytesMax = 32 * 1024;
const pemStrayLinesMax = 4;
const pemRunMin = 16;

/** Positions in `Continuation.progress` of a PEM block. */
const pem = { inEnd: 0, dashes: 1, run: 2, hasRun: 3, hasText: 4, strayLines: 5, count: 6 } as const;

/**
 * The end of a PEM block that began with its BEGIN line: behind the dashes of its END line; or, for a BEGIN line without a
 * block (a message about keys), after it and three lines without a run of base64, or 32 KB: a 16,384-bit RSA key has 13 KB.
 */
function endOfPem(bytes: Uint8Array, range: { from: number; to: number }, secret: Continuation): SecretEnd {
  const state = [0, 0, 0, 0, 0, 0, 0].map((zero, index) => secret.progress[index] ?? zero);
  for (let at = range.from; at < range.to; at += 1) {
    const end = passPemByte(state, bytes[at] as number);
    if (end !== stillPem) return { end: end === pemEndsBehind ? at + 1 : at, open: undefined };
  }
  return { end: range.to, open: { ...secret, progress: state } };
}

const stillPem = 0;
const pemEndsBefore = 1;
const pemEndsBehind = 2;

function passPemByte(state: number[], byte: number): number {
  const dashes = state[pem.dashes] as number;
  if ((state[pem.count] as number) >= pemBytesMax) return pemEndsBefore;
  state[pem.count] = (state[pem.count] as number) + 1;
  if (byte === byteOf.lineFeed) return passPemLine(state);
  if (byte === byteOf.dash) {
    state[pem.dashes] = Math.min(dashes + 1, 5);
    return state[pem.inEnd] === 1 && dashes + 1 >= 5 ? pemEndsBehind : stillPem;
  }
  if (dashes === 5 && byte === letterE) state[pem.inEnd] = 1;
  state[pem.dashes] = 0;
  if (byte > byteOf.space) state[pem.hasText] = 1;
  const run =
    ((classOf[byte] as number) & inBase64) === 0 ? 0 : Math.min((state[pem.run] as number) + 1, pemRunMin);
  state[pem.run] = run;
  if (run === pemRunMin) state[pem.hasRun] = 1;
  return stillPem;
}

const letterE = 0x45;

function passPemLine(state: number[]): number {
  if (state[pem.inEnd] === 1) return pemEndsBefore;
  if (state[pem.hasRun] === 1) state[pem.strayLines] = 0;
  else if (state[pem.hasText] === 1) state[pem.strayLines] = (state[pem.strayLines] as number) + 1;
  state[pem.hasRun] = 0;
  state[pem.hasText] = 0;
  state[pem.run] = 0;
  state[pem.dashes] = 0;
  return (state[pem.strayLines] as number) >= pemStrayLinesMax ? pemEndsBefore : stillPem;
}
