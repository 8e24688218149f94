import { type ChildProcess, fork } from "node:child_process";
import { createInterface } from "node:readline";
import type { Clock } from "@millrace/base/clock";
import { MillraceError } from "@millrace/base/errors";
import type { Exit } from "../services/spawn-service.ts";
import type { RunningProcess } from "../supervise/part.ts";

const readyMaxMs = 60_000;
const linesKept = 5;

/** One of our programs, to be run as a child. */
export interface OwnProgram {
  readonly name: string;
  /** Its `main.ts`. */
  readonly file: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** How long it may take to finish what is in hand before it is killed, in milliseconds. */
  readonly stopMaxMs: number;
  onLine(line: string): void;
  /** What the line says, for a sentence about a start that failed. */
  gistOf(line: string): string;
}

/** A child that has said that it is ready, and with what. */
export interface OwnProcess extends RunningProcess {
  /** The message of kind `ready`, such as `{ kind: "ready", grpcPort: 1985 }`. */
  readonly ready: Readonly<Record<string, unknown>>;
}

/**
 * Starts one of our programs and waits until it says that it is ready. It runs in a session of its own, so that
 * Ctrl-C reaches the supervisor alone, and ends by itself when the supervisor's end of the channel closes.
 * Rejects with the child's last words when it ends first, or when `givenUp`.
 */
export function startOwnProcess(
  program: OwnProgram,
  world: { clock: Clock; givenUp: AbortSignal },
): Promise<OwnProcess> {
  const child = fork(program.file, [], {
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env: { ...program.environment },
    execArgv: ["--import", import.meta.resolve("@millrace/base/module-shortcut")],
  });
  const lastLines: string[] = [];
  const allRead = readLines(child, (line) => {
    lastLines.push(line);
    if (lastLines.length > linesKept) lastLines.shift();
    program.onLine(line);
  });
  const exited = exitOf(child);
  return new Promise((resolve, reject) => {
    const kill = (): void => void child.kill("SIGKILL");
    const cancel = world.clock.after(readyMaxMs, kill);
    world.givenUp.addEventListener("abort", kill, { once: true });
    const settle = (): void => {
      cancel();
      world.givenUp.removeEventListener("abort", kill);
    };
    child.on("message", (message) => {
      if (!isReady(message)) return;
      settle();
      resolve({
        pid: child.pid ?? 0,
        ready: message,
        exited,
        stop: () => stopChild(child, { exited, maxMs: program.stopMaxMs, clock: world.clock }),
        kill,
      });
    });
    child.on("error", (cause) => reject(notStarted(program, String(cause))));
    void Promise.all([exited, allRead]).then(([exit]) => {
      settle();
      const words = lastLines.map((line) => program.gistOf(line)).join(" | ");
      reject(notStarted(program, words === "" ? describeExit(exit) : words));
    });
  });
}

/** `exit code 1`, `killed by SIGKILL`. */
export function describeExit({ code, signal }: Exit): string {
  return signal === null ? `exit code ${code}` : `killed by ${signal}`;
}

/** Resolves when both streams have ended. */
async function readLines(child: ChildProcess, onLine: (line: string) => void): Promise<void> {
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
  const ends = streams.map(
    (input) =>
      new Promise<void>((resolve) => createInterface({ input }).on("line", onLine).on("close", resolve)),
  );
  await Promise.all(ends);
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.once("error", () => resolve({ code: null, signal: null }));
  });
}

function isReady(message: unknown): message is Record<string, unknown> {
  return typeof message === "object" && message !== null && "kind" in message && message.kind === "ready";
}

async function stopChild(
  child: ChildProcess,
  how: { exited: Promise<Exit>; maxMs: number; clock: Clock },
): Promise<void> {
  child.kill("SIGTERM");
  const cancel = how.clock.after(how.maxMs, () => child.kill("SIGKILL"));
  await how.exited;
  cancel();
}

function notStarted(program: OwnProgram, why: string): MillraceError {
  const message = `${program.name} does not start: ${why}`;
  return new MillraceError({ remedy: "crash", code: "part-start", message });
}
