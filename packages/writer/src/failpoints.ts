import { delay, systemClock } from "@millrace/base/clock";
import { z } from "zod";

/** Places in a commit at which a test can have the process killed. */
export const commitPointNames = [
  "after-fence",
  "after-copy",
  "commit-sent",
  "commit-answered",
  "reply-sent",
] as const;

/** The same in compaction and in the dropping of days. */
export const storagePointNames = ["archive-written", "archive-verified", "day-detached"] as const;

const failPointNames = [...commitPointNames, ...storagePointNames] as const;
export type FailPointName = (typeof failPointNames)[number];

export interface FailPoints {
  /** Returns at once, unless the process is to die here: then when `done` is. */
  reach(name: FailPointName, done?: Promise<unknown>): void | Promise<void>;
}

/** Production: nothing ever happens. */
export const noFailPoints: FailPoints = { reach: () => {} };

/** Where to die, and at which visit, the first being 1. */
export interface FailPoint {
  readonly name: FailPointName;
  readonly visit: number;
}

/** `after-copy` or, for the third visit, `after-copy:3`. */
export const failPointText = z
  .string()
  .regex(new RegExp(`^(${failPointNames.join("|")})(:[1-9]\\d*)?$`), `one of ${failPointNames.join(", ")}`)
  .transform((text): FailPoint => {
    const [name, visit] = text.split(":");
    return { name: name as FailPointName, visit: Number(visit ?? 1) };
  });

/** Kills the process, as `kill -9` does, at the given visit of the given point. */
export function killingFailPoints(point: FailPoint, die: () => void = killSelf): FailPoints {
  let visits = 0;
  return {
    reach: async (name, done) => {
      if (name !== point.name) return;
      visits += 1;
      if (visits !== point.visit) return;
      await done;
      // What was written to a socket in this turn is to have left.
      if (name === "commit-sent" || name === "reply-sent") await delay(systemClock, 5);
      die();
    },
  };
}

function killSelf(): void {
  process.kill(process.pid, "SIGKILL");
}
