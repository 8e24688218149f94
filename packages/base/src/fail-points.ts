import { z } from "zod";
import { delay, systemClock } from "./clock.ts";

/** Places at which a test can have a process killed, by name. */
export interface FailPoints<Name extends string> {
  /** Returns at once, unless the process is to die here: then, for who awaits it, never. `done` is waited for first. */
  reach(name: Name, done?: Promise<unknown>): void | Promise<void>;
}

/** Production: nothing ever happens. */
export const noFailPoints: FailPoints<string> = { reach: () => {} };

/** Where to die, and at which visit, the first being 1. */
export interface FailPoint<Name extends string> {
  readonly name: Name;
  readonly visit: number;
}

/** Reads `after-copy` or, for the third visit, `after-copy:3`. */
export function failPointText<Name extends string>(names: readonly Name[]) {
  return z
    .string()
    .regex(new RegExp(`^(${names.join("|")})(:[1-9]\\d*)?$`), `one of ${names.join(", ")}`)
    .transform((text): FailPoint<Name> => {
      const [name, visit] = text.split(":");
      return { name: name as Name, visit: Number(visit ?? 1) };
    });
}

/**
 * Kills the process, as `kill -9` does, at the given visit of the given point; without one nothing happens. At a
 * point whose name ends in `-sent` it dies a moment later: what was written to a socket in this turn has left.
 */
export function killingFailPoints<Name extends string>(
  point: FailPoint<Name> | undefined,
  die: () => void = killSelf,
): FailPoints<Name> {
  if (point === undefined) return noFailPoints;
  let visits = 0;
  return {
    reach: (name, done) => {
      if (name !== point.name) return;
      visits += 1;
      if (visits !== point.visit) return;
      if (done === undefined && !name.endsWith("-sent")) return die();
      return dieAfter(name, done, die);
    },
  };
}

async function dieAfter(name: string, done: Promise<unknown> | undefined, die: () => void): Promise<void> {
  await done;
  if (name.endsWith("-sent")) await delay(systemClock, 5);
  die();
}

function killSelf(): void {
  process.kill(process.pid, "SIGKILL");
}
