import { fixedWorkload } from "./fixed-workload.ts";
import { hugeWorkload } from "./huge-workload.ts";
import type { Workload } from "./workload.ts";

/** The workload of that name; throws when there is none. All builds of the small ones are encoded here: hold it, do not ask again. */
export function workloadNamed(name: string): Workload {
  if (name === "tiny" || name === "real" || name === "log") return fixedWorkload(name);
  if (name === "huge") return hugeWorkload();
  throw new Error(`there is no workload ${JSON.stringify(name)}: tiny, real, huge or log`);
}
