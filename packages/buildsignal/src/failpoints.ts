import { z } from "zod";

/** Places at which a test can have the process killed: the rows of the crash tables in SPEC.md. */
export const failPointNames = [
  "uri-claimed",
  "slot-claimed",
  "request-marked",
  "build-published",
  "triggered",
  "build-stored",
  "status-stored",
  "slot-released",
  "outcome-stored",
  "record-published",
  "settled",
  "fact-stored",
  "bookmark-moved",
  "promoted",
] as const;
export type FailPointName = (typeof failPointNames)[number];

export interface FailPoints {
  /** Returns unless the process is to die here. */
  reach(name: FailPointName): void;
}

/** Production: nothing ever happens. */
export const noFailPoints: FailPoints = { reach: () => {} };

/** Where to die, and at which visit, the first being 1. */
export interface FailPoint {
  readonly name: FailPointName;
  readonly visit: number;
}

/** `slot-released` or, for the third visit, `slot-released:3`. */
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
    reach: (name) => {
      if (name !== point.name) return;
      visits += 1;
      if (visits === point.visit) die();
    },
  };
}

function killSelf(): void {
  process.kill(process.pid, "SIGKILL");
}
