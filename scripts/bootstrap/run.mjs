import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SetUpFailure } from "./failure.mjs";
import { stateDir } from "./paths.mjs";

/**
 * Runs a program to its end and collects what it prints (both streams, as they come).
 * A program that cannot be started or that exceeds `timeoutMs` ends with code −1.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, timeoutMs?: number }} [options]
 * @returns {Promise<{ code: number, output: string }>}
 */
export function run(program, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      timeout: options.timeoutMs,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    const collect = (chunk) => {
      output += chunk;
    };
    child.stdout.setEncoding("utf8").on("data", collect);
    child.stderr.setEncoding("utf8").on("data", collect);
    child.on("error", (error) => resolve({ code: -1, output: `${output}${error.message}\n` }));
    child.on("close", (code) => resolve({ code: code ?? -1, output }));
  });
}

/**
 * Like `run`, but anything except exit code 0 is a failure. The whole output is kept in a log file; the
 * sentence quotes its most telling line.
 * @param {{ name: string, program: string, args: readonly string[], cwd?: string, env?: NodeJS.ProcessEnv,
 *   timeoutMs?: number }} job
 * @returns {Promise<string>} what the program printed
 */
export async function runOrFail(job) {
  const { code, output } = await run(job.program, job.args, job);
  if (code === 0) return output;
  const logDir = join(stateDir, "logs");
  const logFile = join(logDir, `${job.name.replaceAll(" ", "-")}.log`);
  await mkdir(logDir, { recursive: true });
  await writeFile(logFile, output);
  throw new SetUpFailure(`${job.name} failed: ${tellingLine(output)} (all of its output: ${logFile}).`);
}

/**
 * The last line that speaks of an error, or the last line.
 * @param {string} output
 * @returns {string}
 */
export function tellingLine(output) {
  const lines = output.split("\n").map((line) => line.trim());
  const filled = lines.filter((line) => line !== "");
  const ofErrors = filled.filter((line) => /\b(err|error|fail|failed|cannot|not found)\b|ERR_/i.test(line));
  return (ofErrors.at(-1) ?? filled.at(-1) ?? "no output").slice(0, 300);
}
