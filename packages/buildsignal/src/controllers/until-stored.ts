import { type Clock, delay } from "@millrace/base/clock";
import type { Random } from "@millrace/base/random";
import { versionMismatch } from "./context.ts";

const triesMax = 10;
const pauseMsMax = 20;

/**
 * Repeats a read and its compare-and-set until one was stored or there is nothing to store. `step` answers undefined
 * when somebody else was quicker. Gives up, retryably, after 10 tries.
 */
export async function untilStored<T>(
  world: { clock: Clock; random: Random },
  what: { id: string; step: () => Promise<T | undefined> },
): Promise<T> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const result = await what.step();
    if (result !== undefined) return result;
    await delay(world.clock, world.random.fraction() * pauseMsMax);
  }
  throw versionMismatch(what.id);
}
