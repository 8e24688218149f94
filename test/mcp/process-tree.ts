import { readdirSync, readFileSync } from "node:fs";

/** A process as /proc shows it. */
export interface Seen {
  readonly pid: number;
  readonly parent: number;
  /** Words of its command line, separated by spaces. */
  readonly command: string;
}

/** Processes that run now; zombies, which nobody has reaped yet, do not. */
export function processes(): Seen[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "utf8");
        const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
        return state === "Z" ? [] : [{ pid: Number(name), parent: Number(parent), command }];
      } catch {
        return []; // Gone meanwhile.
      }
    });
}

/** Processes whose command line holds `text`. */
export function processesWith(text: string): Seen[] {
  return processes().filter(({ command, pid }) => command.includes(text) && pid !== process.pid);
}

/** Children of a process, and theirs. */
export function descendantsOf(pid: number): Seen[] {
  const all = processes();
  const found: Seen[] = [];
  for (let parents = [pid]; parents.length > 0; ) {
    const children = all.filter(({ parent }) => parents.includes(parent));
    found.push(...children);
    parents = children.map((child) => child.pid);
  }
  return found;
}
