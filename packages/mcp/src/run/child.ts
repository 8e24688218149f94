import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, constants, openSync, realpathSync } from "node:fs";
import { type Clock, delay } from "@millrace/base/clock";
import { errorText } from "@millrace/base/errors";
import { latch } from "@millrace/base/latch";
import { fileMode } from "../store/private-file.ts";
import { isGroupAlive, isWrittenAnywhere } from "./process-table.ts";

/** For what a program leaves behind that still writes. A service that it left running costs an answer this long. */
const leftoverGraceMs = 3000;
const leftoverLookMs = 5;
const leftoverLookMaxMs = 100;

/** How a child ended. */
export type ChildEnd =
  | { readonly kind: "exit"; readonly code: number }
  | { readonly kind: "signal"; readonly signal: string }
  | { readonly kind: "spawn_failure"; readonly message: string };

export interface ChildSettings {
  readonly executable: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly stdoutPath: string;
  readonly stderrPath: string;
}

export interface StopGraces {
  readonly interruptMs: number;
  readonly terminateMs: number;
}

/**
 * Starts the program with a watcher beside it, in one process group. The watcher reads a pipe that only we hold: when this
 * process dies, however, the group gets SIGINT, and SIGKILL once the program has ended or after ten seconds. `exec`
 * makes the program take the shell's place, so its pid is the group's.
 */
const launcher = `
(
  trap '' INT TERM
  read -r word <&3
  [ "$word" = done ] && exit 0
  kill -INT -$$ 2>/dev/null
  tries=100
  while [ $tries -gt 0 ] && kill -0 $$ 2>/dev/null; do sleep 0.1; tries=$((tries - 1)); done
  sleep 0.5
  kill -KILL -$$ 2>/dev/null
) >/dev/null 2>&1 &
exec 3<&-
exec "$@"
`;

/** Bazel as a child in a process group of its own; its output goes to files through descriptors, never through us. */
export class Child {
  readonly ended: Promise<ChildEnd>;
  private readonly process: ChildProcess;
  private readonly clock: Clock;
  private readonly outputs: readonly string[];
  private isOver = false;
  private wasStopped = false;

  constructor(settings: ChildSettings, clock: Clock) {
    this.clock = clock;
    const flags = constants.O_CREAT | constants.O_WRONLY | constants.O_APPEND;
    const stdout = openSync(settings.stdoutPath, flags, fileMode);
    const stderr = openSync(settings.stderrPath, flags, fileMode);
    try {
      const args = ["-c", launcher, "millrace-bazel", settings.executable, ...settings.args];
      this.process = spawn("/bin/sh", args, {
        cwd: settings.cwd,
        env: { ...settings.environment },
        detached: true,
        stdio: ["ignore", stdout, stderr, "pipe"],
      });
    } finally {
      closeSync(stdout);
      closeSync(stderr);
    }
    this.outputs = [settings.stdoutPath, settings.stderrPath].map((file) => realpathSync(file));
    this.process.stdio[3]?.on("error", () => {});
    this.ended = this.watch();
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  private watch(): Promise<ChildEnd> {
    const end = latch<ChildEnd>();
    this.process.once("error", (error) => {
      end.open({ kind: "spawn_failure", message: errorText(error) });
    });
    this.process.once("exit", (code, signal) => {
      this.isOver = true;
      const ending: ChildEnd =
        code === null ? { kind: "signal", signal: signal ?? "unknown" } : { kind: "exit", code };
      void this.clearGroup().then(() => end.open(ending));
    });
    return end.promise;
  }

  /**
   * Sends the watcher away and lets what the program left finish (a pipe's last stage still writes its output, in our
   * process group or in one of its own), for a moment; what is left of the group after that is killed.
   */
  private async clearGroup(): Promise<void> {
    const pipe = this.process.stdio[3];
    if (pipe !== null && pipe !== undefined && "end" in pipe) pipe.end("done\n");
    const until = this.clock.monotonic() + leftoverGraceMs;
    let lookMs = leftoverLookMs;
    while (!this.wasStopped && this.isWritten() && this.clock.monotonic() < until) {
      await delay(this.clock, lookMs);
      lookMs = Math.min(leftoverLookMaxMs, lookMs * 1.5);
    }
    this.signal("SIGKILL");
  }

  private isWritten(): boolean {
    return (this.pid !== undefined && isGroupAlive(this.pid)) || isWrittenAnywhere(this.outputs);
  }

  /** To the whole group. */
  signal(signal: "SIGINT" | "SIGTERM" | "SIGKILL"): void {
    if (this.pid === undefined) return;
    try {
      process.kill(-this.pid, signal);
    } catch {
      // The group is gone, which is what was wanted.
    }
  }

  /** SIGINT, then SIGTERM, then SIGKILL, each after its grace. Resolves when the child has ended. */
  async stop(graces: StopGraces): Promise<void> {
    const steps = [
      { signal: "SIGINT", graceMs: graces.interruptMs },
      { signal: "SIGTERM", graceMs: graces.terminateMs },
      { signal: "SIGKILL", graceMs: 0 },
    ] as const;
    this.wasStopped = true;
    for (const step of steps) {
      if (this.isOver) break;
      this.signal(step.signal);
      if (step.graceMs > 0) await Promise.race([this.ended, delay(this.clock, step.graceMs)]);
    }
    await this.ended;
  }
}
