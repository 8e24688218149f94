import type { Continuation, SecretKind } from "./secret-kind.ts";

/**
 * Where the detector stands between two texts of one console stream. `context` are the last bytes that were let
 * through, since they may be the name of a value that follows; they stand in clear in the log, so no secret is in them.
 */
export interface DetectorState {
  /** A secret goes on in the next text. Then `context` is empty. */
  readonly inside: Continuation | undefined;
  readonly context: Uint8Array;
  /** `context` begins within a word. */
  readonly afterWord: boolean;
}

const nothing = new Uint8Array(0);

export const neutral: DetectorState = { inside: undefined, context: nothing, afterWord: false };

export function insideOf(inside: Continuation | undefined): DetectorState {
  return inside === undefined ? neutral : { inside, context: nothing, afterWord: false };
}

export function isNeutral(state: DetectorState): boolean {
  return state.inside === undefined && state.context.length === 0;
}

/** The detectors of both console streams. */
export interface ScrubState {
  readonly stderr: DetectorState;
  readonly stdout: DetectorState;
}

export const neutralScrub: ScrubState = { stderr: neutral, stdout: neutral };

/** Bytes of context that any rule can need: a name, a quote before it, and white space. */
export const contextBytesMax = 256;

const version = 1;

/** The state as it travels in the carry: empty when both are neutral, else below 1 KB. */
export function encodeScrubState(state: ScrubState): Uint8Array {
  if (isNeutral(state.stderr) && isNeutral(state.stdout)) return nothing;
  const bytes: number[] = [version];
  for (const stream of [state.stderr, state.stdout]) {
    const { inside, context, afterWord } = stream;
    bytes.push(inside?.kind ?? 0, inside?.quote ?? 0, inside?.depth ?? 0, afterWord ? 1 : 0);
    bytes.push(inside?.progress.length ?? 0);
    for (const value of inside?.progress ?? []) bytes.push(value >> 8, value & 0xff);
    bytes.push(context.length >> 8, context.length & 0xff, ...context);
  }
  return Uint8Array.from(bytes);
}

/** The reverse. What a newer version wrote is not understood and read as neutral. */
export function decodeScrubState(bytes: Uint8Array): ScrubState {
  if (bytes[0] !== version) return neutralScrub;
  const stderr = decodeStream(bytes, 1);
  const stdout = decodeStream(bytes, stderr.end);
  return { stderr: stderr.state, stdout: stdout.state };
}

function decodeStream(bytes: Uint8Array, from: number): { state: DetectorState; end: number } {
  const byte = (at: number): number => bytes[from + at] ?? 0;
  const progressLength = byte(4);
  const progress = Array.from({ length: progressLength }, (_, index) => {
    const at = 5 + 2 * index;
    return (byte(at) << 8) | byte(at + 1);
  });
  const contextAt = 5 + 2 * progressLength;
  const contextLength = (byte(contextAt) << 8) | byte(contextAt + 1);
  const contextFrom = from + contextAt + 2;
  const end = contextFrom + contextLength;
  const kind = byte(0) as SecretKind | 0;
  const inside = kind === 0 ? undefined : { kind, quote: byte(1), depth: byte(2), progress };
  // A copy: the carry's bytes belong to a message.
  const context = Uint8Array.from(bytes.subarray(contextFrom, end));
  return { state: { inside, context, afterWord: byte(3) === 1 }, end };
}
