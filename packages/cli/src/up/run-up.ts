import { mkdir } from "node:fs/promises";
import { type Clock, delay } from "@millrace/base/clock";
import { errorText, MillraceError } from "@millrace/base/errors";
import { latch } from "@millrace/base/latch";
import type { Terminal } from "../command-line/terminal.ts";
import { formatLine, isAtLeast, type Level, type LogLine } from "../logs/log-line.ts";
import { readBazelrc, readyBanner } from "./banner.ts";
import { lockDataDir } from "./data-dir-lock.ts";
import { clearLeftovers } from "./leftovers.ts";
import { Millrace } from "./millrace.ts";
import { isLoopback, type UpPlan } from "./plan.ts";
import { checkPort } from "./ports.ts";
import { reportText } from "./report-text.ts";
import { type Addresses, findRunning, readLastState } from "./running-state.ts";
import { listenForStop } from "./stop-signals.ts";

/** Longest delay of a timer, which keeps the process alive while all its children are away. */
const foreverMs = 2 ** 31 - 1;

export interface UpRun {
  readonly plan: UpPlan;
  readonly terminal: Terminal;
  /** One line of JSON on standard output and the log on standard error, for scripts. */
  readonly json: boolean;
  readonly hasDashboard: boolean;
  readonly clock: Clock;
}

/** Runs Millrace in the foreground until it is told to stop. Answers the exit code. */
export async function runUp(run: UpRun): Promise<number> {
  const { plan, clock } = run;
  await makeDataDir(plan.dataDir);
  const lock = lockDataDir(plan.dataDir);
  if (lock.kind === "taken") throw alreadyRunning(plan.dataDir, lock.holder.pid);
  try {
    const log = logTo(run);
    const say = (level: Level, message: string): void =>
      log({ atMs: clock.now(), part: "millrace", level, message, fields: {} });
    await clearLeftovers(readLastState(plan.dataDir), {
      clock,
      onLeftover: (name, pid) => say("info", `waiting for ${name} (process ${pid}) of an earlier run to end`),
    });
    await checkPort({ host: plan.grpcHost, port: plan.grpcPort, flag: "--grpc-port" });
    await checkPort({ host: plan.httpHost, port: plan.httpPort, flag: "--http-port" });
    return await supervise(run, { log, say });
  } finally {
    lock.release();
  }
}

type Say = (level: Level, message: string) => void;

async function supervise(run: UpRun, out: { log: (line: LogLine) => void; say: Say }): Promise<number> {
  const { plan, clock } = run;
  const beganMs = clock.monotonic();
  const millrace = new Millrace(plan, {
    clock,
    onLine: out.log,
    onReport: (report) => {
      const { level, message } = reportText(report);
      out.say(level, message);
    },
  });
  out.say("info", "starting");
  const told = latch<string>();
  const stopListening = listenForStop(clock, (nth, signal) => {
    if (nth === 1) {
      out.say(
        "info",
        `stopping (${signal}): acks of what is committed go out first; once more ends it at once`,
      );
      told.open(signal);
    } else if (nth === 2) millrace.kill();
    else process.exit(1);
  });
  try {
    const addresses = await Promise.race([millrace.start(), told.promise.then(() => undefined)]);
    if (addresses !== undefined) await tellReady(run, { addresses, millrace, beganMs });
    await Promise.race([told.promise, delay(clock, foreverMs)]);
    return 0;
  } catch (error) {
    run.terminal.complain(`millrace up: ${errorText(error)}`);
    return 1;
  } finally {
    await millrace.stop();
    stopListening();
    out.say("info", "stopped");
  }
}

async function tellReady(
  run: UpRun,
  up: { addresses: Addresses; millrace: Millrace; beganMs: number },
): Promise<void> {
  const { plan, terminal, clock } = run;
  const { found } = up.millrace;
  if (run.json) {
    const { grpcPort, httpPort } = found;
    const processes = up.millrace.processes();
    terminal.print(
      JSON.stringify({
        pid: process.pid,
        dataDir: plan.dataDir,
        ...up.addresses,
        grpcPort,
        httpPort,
        processes,
      }),
    );
    return;
  }
  const { httpUrl } = up.addresses;
  const bazelrc = await readBazelrc([httpUrl, `http://127.0.0.1:${found.httpPort}`]);
  const banner = readyBanner({
    httpUrl,
    bazelrc,
    dataDir: plan.dataDir,
    seconds: (clock.monotonic() - up.beganMs) / 1000,
    openHosts: [...new Set([plan.grpcHost, plan.httpHost])].filter((host) => !isLoopback(host)),
    hasDashboard: run.hasDashboard,
  });
  for (const line of banner) terminal.print(line);
}

function logTo(run: UpRun): (line: LogLine) => void {
  const { terminal, plan } = run;
  const least = plan.logLevel as Level;
  return (line) => {
    if (!isAtLeast(line.level, least)) return;
    if (run.json) terminal.complain(formatLine(line, { isColoured: false }));
    else terminal.print(formatLine(line, { isColoured: terminal.isColoured }));
  };
}

async function makeDataDir(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true });
  } catch (cause) {
    const message = `The data directory ${dataDir} cannot be made: choose another one with --data-dir`;
    throw new MillraceError({ remedy: "crash", code: "data-dir", message, cause });
  }
}

function alreadyRunning(dataDir: string, pid: number): MillraceError {
  const at = findRunning(dataDir)?.httpUrl;
  const message =
    `Millrace runs on ${dataDir} already (process ${pid}${at === undefined ? "" : `, ${at}`}). ` +
    "Stop that one first, or give this one another --data-dir and other ports.";
  return new MillraceError({ remedy: "crash", code: "already-running", message });
}
