import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const processes = "/proc";

/**
 * Whether a process of this group still runs. A zombie does not: where nobody reaps orphans (a container without an init)
 * one stays for ever, and `kill` would take it for alive.
 */
export function isGroupAlive(group: number): boolean {
  try {
    process.kill(-group, 0);
  } catch {
    return false;
  }
  const pids = pidsHere();
  return pids.length === 0 || pids.some((pid) => isRunningIn(group, pid));
}

function isRunningIn(group: number, pid: string): boolean {
  try {
    const stat = readFileSync(`${processes}/${pid}/stat`, "utf8");
    // Behind the command's name, in parentheses, which may hold anything: state, parent, group.
    const [state = "", , of] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return Number(of) === group && state !== "Z" && state !== "X";
  } catch {
    return false; // Gone meanwhile.
  }
}

function pidsHere(): string[] {
  return namesIn(processes).filter((name) => /^\d+$/.test(name));
}

/**
 * Whether some process still has one of these files open for writing. A program may leave the last stage of a pipe behind, in a process
 * group of its own, and it is that stage which writes the last words. Knows only Linux; elsewhere nobody is found.
 *
 * @param files real paths
 */
export function isWrittenAnywhere(files: readonly string[]): boolean {
  const wanted = new Set(files);
  return pidsHere().some((pid) => {
    if (pid === String(process.pid)) return false;
    const home = `${processes}/${pid}`;
    return namesIn(`${home}/fd`).some(
      (fd) => wanted.has(targetOf(`${home}/fd/${fd}`)) && isForWriting(`${home}/fdinfo/${fd}`),
    );
  });
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // Another user's process, or one that is gone.
  }
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return ""; // Closed meanwhile.
  }
}

/** `flags:` gives those of open(2) in octal; the lowest two bits are 0 for reading alone. */
function isForWriting(information: string): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(information, "utf8"))?.[1] ?? "0";
    return (Number.parseInt(flags, 8) & 3) !== 0;
  } catch {
    return false; // Closed meanwhile.
  }
}
