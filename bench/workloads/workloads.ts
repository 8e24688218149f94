import { fixedWorkload } from "./fixed-workload.ts";
import { hugeWorkload } from "./huge-workload.ts";
import type { Workload } from "./workload.ts";

/** The workload of that name; throws when there is none. Its first 64 builds are encoded here: hold it, do not ask again. */
export function workloadNamed(name: string): Workload {
  if (name === "tiny" || name === "real") return fixedWorkload(name);
  if (name === "huge") return hugeWorkload();
  throw new Error(`there is no workload ${JSON.stringify(name)}: tiny, real or huge`);
}
