import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Clock } from "@millrace/base/clock";
import { processEnvironment } from "@millrace/base/config";
import { errorCode } from "@millrace/base/errors";
import type { Log } from "@millrace/base/log";
import type { RunnerWorld, TriggerRequest } from "../runner.ts";
import { RunnerError } from "../runner-error.ts";
import { fillText, type TemplateValues, triggerValues } from "./http/template.ts";
import type { CommandStart } from "./millrace-config.ts";
import type { Starter } from "./millrace-starter.ts";

/** Events of a Bazel that has ended may take so long to be stored. */
const storedAfterMs = 60_000;
const endedKeptMax = 1_000;

/**
 * Starts Bazel by a command on the controller's own machine. Only the process that started one can interrupt it or
 * tell that it ended without a stream; for the others the queue's deadline does. A command outlives its controller.
 */
export class CommandStarter implements Starter {
  private readonly command: CommandStart;
  private readonly clock: Clock;
  private readonly log: Log;
  private readonly running = new Map<string, ChildProcess>();
  private readonly over = new Map<string, { how: string; atMs: number }>();

  constructor(command: CommandStart, world: RunnerWorld) {
    this.command = command;
    this.clock = world.clock;
    this.log = world.log;
  }

  async start(request: TriggerRequest, { invocationId }: { invocationId: string }): Promise<void> {
    if (this.running.has(invocationId)) return;
    const values = { ...triggerValues(request), invocation_id: invocationId };
    const [program = "", ...args] = this.command.argv.map((text) => argumentOf(text, values));
    const { PATH = "/usr/bin:/bin", HOME = "/" } = processEnvironment();
    const own = Object.entries(this.command.environment).map(([name, text]) => [
      name,
      fillText(text, values),
    ]);
    // A group of its own: an interrupt reaches the Bazel behind a script, and none of ours reaches it by chance.
    const child = spawn(program, args, {
      cwd: this.command.directory,
      env: { PATH, HOME, ...Object.fromEntries(own) },
      stdio: "ignore",
      detached: true,
    });
    child.unref();
    this.running.set(invocationId, child);
    child.once("exit", (code, signal) => this.ends(invocationId, signal ?? `exit_code_${code}`));
    try {
      await once(child, "spawn");
    } catch (error) {
      this.running.delete(invocationId);
      throw new RunnerError({
        kind: "invalid",
        message: `${program} cannot be run in ${this.command.directory} (${errorCode(error)})`,
      });
    }
    this.log.info("a command that runs Bazel has begun", { invocationId, pid: child.pid });
  }

  async cancel(invocationId: string): Promise<void> {
    const pid = this.running.get(invocationId)?.pid;
    if (pid === undefined) return;
    try {
      process.kill(-pid, "SIGINT");
    } catch (error) {
      if (errorCode(error) !== "ESRCH") throw error; // It has ended.
    }
  }

  ended(invocationId: string): string | undefined {
    const over = this.over.get(invocationId);
    return over !== undefined && this.clock.now() - over.atMs >= storedAfterMs ? over.how : undefined;
  }

  private ends(invocationId: string, how: string): void {
    this.log.info("a command that ran Bazel has ended", { invocationId, how });
    this.running.delete(invocationId);
    this.over.set(invocationId, { how, atMs: this.clock.now() });
    const [oldest] = this.over.keys();
    if (this.over.size > endedKeptMax && oldest !== undefined) this.over.delete(oldest);
  }
}

/** A value at the head of an argument must not turn it into an option. */
function argumentOf(text: string, values: TemplateValues): string {
  const filled = fillText(text, values);
  if (!filled.startsWith("-") || text.startsWith("-")) return filled;
  throw new RunnerError({
    kind: "invalid",
    message: `${JSON.stringify(filled)} would be taken for an option`,
  });
}
