import { writeSync } from "node:fs";
import { z } from "zod";
import { type Clock, delay, systemClock } from "./clock.ts";
import { type Random, systemRandom } from "./random.ts";

/** Places at which a test can have a process killed, by name. */
export interface FailPoints<Name extends string> {
  /** Returns at once, unless the process is to die here: then, for who awaits it, never. `done` is waited for first. */
  reach(name: Name, done?: Promise<unknown>): void | Promise<void>;
}

/** Production: nothing ever happens. */
export const noFailPoints: FailPoints<string> = { reach: () => {} };

/** Where to die: at one of `names`, by chance, at the given visit of it, the first being 1, once `afterMs` are over. */
export interface FailPoint<Name extends string> {
  readonly names: readonly Name[];
  readonly visit: number;
  readonly afterMs: number;
}

/** Reads `after-copy`; `after-copy:3`, the third visit; `after-copy|commit-sent@20`, one of them, 20 s after the start. */
export function failPointText<Name extends string>(names: readonly Name[]) {
  const one = `(?:${names.join("|")})`;
  return z
    .string()
    .regex(new RegExp(`^${one}(\\|${one})*(:[1-9]\\d*|@\\d+)?$`), `one of ${names.join(", ")}`)
    .transform((text): FailPoint<Name> => {
      const [places = "", visit] = text.split(":");
      const [alternatives = "", seconds] = places.split("@");
      return {
        names: alternatives.split("|") as Name[],
        visit: Number(visit ?? 1),
        afterMs: 1_000 * Number(seconds ?? 0),
      };
    });
}

const fromSystem = { clock: systemClock, random: systemRandom, die: killSelf };

/**
 * Kills the process, as `kill -9` does, at the given visit of the given point; without one nothing happens. Its last
 * words on stderr are the point's name. At a point whose name ends in `-sent` it dies a moment later: what was written
 * to a socket in this turn has left.
 */
export function killingFailPoints<Name extends string>(
  point: FailPoint<Name> | undefined,
  from: { clock: Clock; random: Random; die: (name: Name) => void } = fromSystem,
): FailPoints<Name> {
  if (point === undefined) return noFailPoints;
  const { clock, random, die } = from;
  const chosen = point.names[Math.floor(random.fraction() * point.names.length)];
  const notBeforeMs = clock.monotonic() + point.afterMs;
  let visits = 0;
  return {
    reach: (name, done) => {
      if (name !== chosen || clock.monotonic() < notBeforeMs) return;
      visits += 1;
      if (visits !== point.visit) return;
      if (done === undefined && !name.endsWith("-sent")) return die(name);
      return dieAfter(done, { name, die });
    },
  };
}

async function dieAfter<Name extends string>(
  done: Promise<unknown> | undefined,
  { name, die }: { name: Name; die: (name: Name) => void },
): Promise<void> {
  await done;
  if (name.endsWith("-sent")) await delay(systemClock, 5);
  die(name);
}

function killSelf(name: string): void {
  writeSync(2, `dies at the fail point ${name}\n`);
  process.kill(process.pid, "SIGKILL");
}
