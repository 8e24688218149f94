import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/**
 * A process by more than its number, which the system gives away again: the time it started, and the place (boot and
 * pid namespace) where the number means anything.
 */
export interface ProcessIdentity {
  readonly pid: number;
  readonly started: string;
  readonly place: string;
}

export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, started: startOf(process.pid) ?? "", place: placeOf() };
}

/** `elsewhere`: another machine, boot or container, where we cannot look. */
export type Liveness = "alive" | "dead" | "elsewhere";

export function livenessOf(identity: ProcessIdentity): Liveness {
  if (identity.place !== placeOf()) return sameMachine(identity.place) ? "dead" : "elsewhere";
  const started = startOf(identity.pid);
  return started !== undefined && started === identity.started ? "alive" : "dead";
}

/** Host name, boot id and pid namespace; the last two only where the kernel tells them. */
function placeOf(): string {
  knownPlace ??= [hostname(), readText("/proc/sys/kernel/random/boot_id"), pidNamespace()].join(" ");
  return knownPlace;
}

// It cannot change while a process lives, and every look at another process asks for it.
let knownPlace: string | undefined;

/** Same host and pid namespace but another boot: nothing of it can be alive. */
function sameMachine(place: string): boolean {
  const [host, boot, namespace] = place.split(" ");
  const [ownHost, ownBoot, ownNamespace] = placeOf().split(" ");
  return host === ownHost && boot !== ownBoot && boot !== "" && namespace === ownNamespace;
}

function pidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return ""; // Not Linux.
  }
}

/** When process `pid` started, as text to compare; undefined when there is none (a zombie counts as none). */
function startOf(pid: number): string | undefined {
  if (process.platform !== "linux") return startByPs(pid);
  const stat = readText(`/proc/${pid}/stat`);
  // The command's name, in parentheses, may hold anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  return stat === "" || state === "Z" || state === "X" ? undefined : fields[19];
}

function startByPs(pid: number): string | undefined {
  try {
    const text = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim();
    return text === "" ? undefined : text.replaceAll(/\s+/g, "_");
  } catch {
    return undefined; // ps exits 1 for a process that does not exist.
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return "";
  }
}
