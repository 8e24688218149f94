import { randomBytes, randomUUID } from "node:crypto";

/** Chance as a port, so that simulations are repeatable. */
export interface Random {
  bytes(count: number): Uint8Array;
  uuid(): string;
  /** A number in [0, 1). */
  fraction(): number;
}

/** Chance from the operating system. */
export const systemRandom: Random = {
  bytes: (count) => randomBytes(count),
  uuid: () => randomUUID(),
  fraction: () => Math.random(),
};

/** `delayMs` ± 20 %, so that many clients of a restarted server do not come back in step. */
export function withJitter(random: Random, delayMs: number): number {
  return delayMs * (0.8 + 0.4 * random.fraction());
}
