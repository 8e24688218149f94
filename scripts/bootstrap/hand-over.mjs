import { spawn } from "node:child_process";
import { programEnvironment } from "./environment.mjs";
import { SetUpFailure } from "./failure.mjs";

const forwarded = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"];

/** The terminal itself sends these to the whole foreground group; passed on they would arrive twice. */
const sentByTerminal = new Set(["SIGINT", "SIGQUIT"]);

/**
 * Runs the program in the foreground in our place: its input and output are ours, signals to us reach it, and
 * we end as it ends.
 * @param {string} node path of the runtime
 * @param {readonly string[]} args
 */
export function handOver(node, args) {
  const child = spawn(node, args, { stdio: "inherit", env: programEnvironment(node) });
  for (const signal of forwarded) {
    process.on(signal, () => {
      if (!(process.stdin.isTTY && sentByTerminal.has(signal))) child.kill(signal);
    });
  }
  return new Promise((resolve, reject) => {
    child.on("error", (error) => reject(new SetUpFailure(`${node} could not be started: ${error.message}.`)));
    child.on("exit", (code, signal) => resolve({ code, signal }));
  });
}

/**
 * Ends this process as `ended` says, by the same signal if it was one.
 * @param {{ code: number | null, signal: NodeJS.Signals | null }} ended
 */
export function endLike({ code, signal }) {
  if (signal === null) {
    process.exitCode = code ?? 1;
    return;
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}
