import { readFileSync } from "node:fs";

/** What a process and the children it has started use. */
interface Usage {
  /** CPU time since its start, of children that have ended included. */
  readonly cpuMicros: number;
  /** Resident memory; what a family shares (PostgreSQL's buffers) counts once. */
  readonly rssBytes: number;
}

export type UsageByProcess = Readonly<Record<string, Usage>>;

// USER_HZ, which is 100 on every Linux that Node runs on.
const microsPerTick = 10_000;

/** Reads /proc. A process that has ended uses nothing. */
export function usageOf(pids: Readonly<Record<string, number>>): UsageByProcess {
  const usages = Object.entries(pids).map(([name, pid]) => {
    // Supervision has children with names of their own.
    const family = name === "up" ? [pid] : [pid, ...childrenOf(pid)];
    return [name, familyUsage(family, name !== "up")] as const;
  });
  return Object.fromEntries(usages);
}

/** CPU time that everything on this machine has used, in microseconds; time that was waited for a disk is none. */
export function machineCpuMicros(): number {
  const line = read("/proc/stat").split("\n")[0] ?? "";
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + softirq) * microsPerTick;
}

function familyUsage(family: readonly number[], countsEnded: boolean): Usage {
  let ticks = 0;
  let ownBytes = 0;
  let sharedBytes = 0;
  for (const [nth, pid] of family.entries()) {
    ticks += ticksOf(pid, countsEnded && nth === 0);
    const { own, shared } = memoryOf(pid);
    ownBytes += own;
    sharedBytes = Math.max(sharedBytes, shared);
  }
  return { cpuMicros: ticks * microsPerTick, rssBytes: ownBytes + sharedBytes };
}

/** Fields 14 to 17 of /proc/PID/stat; what stands before them ends with the last parenthesis. */
function ticksOf(pid: number, countsEnded: boolean): number {
  const text = read(`/proc/${pid}/stat`);
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15).map(Number);
  return user + system + (countsEnded ? endedUser + endedSystem : 0);
}

function memoryOf(pid: number): { own: number; shared: number } {
  const status = read(`/proc/${pid}/status`);
  const bytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? 0) * 1_024;
  return { own: bytes("RssAnon") + bytes("RssFile"), shared: bytes("RssShmem") };
}

function childrenOf(pid: number): number[] {
  return read(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // It has ended.
  }
}
