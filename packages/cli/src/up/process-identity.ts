import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { z } from "zod";
import { isAlive } from "../services/spawn-service.ts";

/** A process by number and by when it was started: numbers are given away again. */
export const processIdentitySchema = z.object({ pid: z.number().int().positive(), started: z.string() });
export type ProcessIdentity = z.infer<typeof processIdentitySchema>;

/** Undefined when no such process runs. One that has ended but was not yet collected by its parent has ended. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  if (!isAlive(pid)) return undefined;
  const started = process.platform === "linux" ? startOnLinux(pid) : startByPs(pid);
  return started === undefined ? undefined : { pid, started };
}

/** Whether that very process still runs. */
export function isStillRunning(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.started === identity.started;
}

/** Clock ticks since the boot, of which the kernel tells the name. */
function startOnLinux(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name in parentheses, which may hold anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, startTicks] = [fields[0], fields[19]];
    if (state === "Z" || startTicks === undefined) return undefined;
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}/${startTicks}`;
  } catch {
    return undefined; // It has ended meanwhile.
  }
}

function startByPs(pid: number): string | undefined {
  const { stdout, status } = spawnSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], {
    encoding: "utf8",
  });
  const [stat, ...lstart] = (stdout ?? "").trim().split(/\s+/);
  return status !== 0 || stat === undefined || stat.startsWith("Z") ? undefined : lstart.join(" ");
}
