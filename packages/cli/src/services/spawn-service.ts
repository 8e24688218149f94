import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { processEnvironment } from "@millrace/base/config";
import { guardProcess } from "./guard.ts";

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A server process of ours. */
export interface Service {
  readonly pid: number;
  /** Resolves when the process has ended, whoever ended it. Never rejects. */
  readonly exited: Promise<Exit>;
}

/** A user other than our own, for programs that refuse to run as root. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
}

export interface ServiceCommand {
  /** A path, or a name that our own PATH knows. */
  readonly program: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly identity?: Identity | undefined;
  /** Every line the process prints, on either stream. */
  readonly onLine: (line: string) => void;
  /** What happens to the process when this one dies. */
  readonly onOurDeath: {
    readonly signal: "INT" | "TERM" | "QUIT" | "KILL";
    readonly removeDirectories?: readonly string[];
  };
}

/**
 * Starts a server process in a session of its own, so that Ctrl-C in the terminal reaches us alone and we decide
 * the order in which things stop. It never outlives this process. Rejects when the program cannot be started.
 */
export async function spawnService(command: ServiceCommand): Promise<Service> {
  const child = spawn(command.program, command.args, {
    detached: true,
    cwd: "/",
    env: { ...plainEnvironment(), ...command.environment },
    stdio: ["ignore", "pipe", "pipe"],
    ...command.identity,
  });
  const exited = exitOf(child);
  await once(child, "spawn");
  const pid = child.pid ?? 0;
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on("line", command.onLine);
  }
  const dismissGuard = guardProcess({ pid, ...command.onOurDeath });
  void exited.then(dismissGuard);
  return { pid, exited };
}

/** Sends a signal to a process that may have ended already. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Whether a process with this number exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Nothing of ours but the PATH: a server that the set-up found by it is found again (`/usr/sbin` included). */
function plainEnvironment(): Record<string, string> {
  return { PATH: processEnvironment().PATH ?? "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
}

/** Runs a program to its end with `input` on its standard input; both output streams are collected. */
export async function runToEnd(command: {
  readonly program: string;
  readonly args: readonly string[];
  readonly input: string;
  readonly identity?: Identity | undefined;
}): Promise<{ code: number | null; output: string }> {
  const child = spawn(command.program, command.args, {
    cwd: "/",
    env: plainEnvironment(),
    stdio: ["pipe", "pipe", "pipe"],
    ...command.identity,
  });
  let output = "";
  const collect = (chunk: string) => {
    output += chunk;
  };
  child.stdout.setEncoding("utf8").on("data", collect);
  child.stderr.setEncoding("utf8").on("data", collect);
  child.stdin.on("error", () => {}).end(command.input);
  const [code] = await once(child, "close");
  return { code: typeof code === "number" ? code : null, output };
}
