import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { processEnvironment } from "@millrace/base/config";
import type { ProcessIdentity } from "@millrace/cli/up/process-identity";
import { readLastState } from "@millrace/cli/up/running-state";

const program = path.resolve(import.meta.dirname, "../../packages/cli/src/main.ts");

/** What a command said and how it ended. */
export interface CommandRun {
  readonly exitCode: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs `millrace` with these arguments to its end, with nothing of Millrace in its environment. */
export async function runMillrace(...args: string[]): Promise<CommandRun> {
  const child = startMillrace(args);
  const [out, err] = [collect(child, "stdout"), collect(child, "stderr")];
  await once(child, "close");
  return { exitCode: child.exitCode, out: out(), err: err() };
}

/** A command that runs until it is stopped. */
export interface CommandInBackground {
  out(): string;
  err(): string;
  /** Ctrl-C; answers the exit code. */
  stop(): Promise<number | null>;
}

export function startInBackground(...args: string[]): CommandInBackground {
  const child = startMillrace(args);
  const closed = once(child, "close");
  return {
    out: collect(child, "stdout"),
    err: collect(child, "stderr"),
    stop: async () => {
      child.kill("SIGINT");
      await closed;
      return child.exitCode;
    },
  };
}

function startMillrace(args: readonly string[]): ChildProcess {
  const env = Object.fromEntries(
    Object.entries(processEnvironment()).filter(([name]) => !name.startsWith("MILLRACE_")),
  );
  return spawn(process.execPath, [program, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
}

function collect(child: ChildProcess, which: "stdout" | "stderr"): () => string {
  let text = "";
  child[which]?.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
  });
  return () => text;
}

/** What `millrace up --json` prints when it is ready. */
export interface UpReady {
  readonly pid: number;
  readonly grpcUrl: string;
  readonly httpUrl: string;
  readonly grpcPort: number;
  readonly httpPort: number;
  readonly processes: Readonly<Record<string, number>>;
}

/** A `millrace up` of a test. */
export interface UpProcess {
  readonly ready: UpReady;
  /** Everything on standard output. */
  out(): string;
  /** Its log. */
  log(): string;
  /** The process of a part that was started last. */
  processOf(part: string): ProcessIdentity;
  signal(signal: NodeJS.Signals): void;
  /** Resolves when it has ended, and answers its exit code; null after a signal. */
  ended(): Promise<number | null>;
}

/** Starts `millrace up` on free ports and waits until it is ready. Fails with its log when it ends instead. */
export async function startUp(dataDir: string, ...args: string[]): Promise<UpProcess> {
  const freePorts = ["--grpc-port", "0", "--http-port", "0"];
  const child = startMillrace(["up", "--data-dir", dataDir, "--json", ...freePorts, ...args]);
  const [out, log] = [collect(child, "stdout"), collect(child, "stderr")];
  const closed = once(child, "close");
  const line = await Promise.race([firstLine(child), closed.then(() => undefined)]);
  if (line === undefined) throw new Error(`millrace up has ended:\n${log()}`);
  return {
    ready: JSON.parse(line),
    out,
    log,
    processOf: (part) => {
      const identity = readLastState(dataDir)?.processes[part];
      if (identity === undefined) throw new Error(`there is no ${part}`);
      return identity;
    },
    signal: (signal) => void child.kill(signal),
    ended: async () => {
      await closed;
      return child.exitCode;
    },
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("it has no output");
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return line;
}
