import { readFile, readlink, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, delay } from "@millrace/base/clock";
import { isAlive, runToEnd, sendSignal } from "./spawn-service.ts";

const pollDelayMs = 50;
const fastStopMaxMs = 60_000;

/** What PostgreSQL writes into `postmaster.pid`. */
export interface PostmasterFile {
  readonly pid: number;
  /** The eighth line: `starting`, `ready`, `stopping`, `standby`. */
  readonly status: string;
}

/** Reads `postmaster.pid` of the cluster; undefined when there is none. */
export async function readPostmasterFile(cluster: string): Promise<PostmasterFile | undefined> {
  const text = await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const lines = text.split("\n");
  return { pid: Number(lines[0]), status: lines[7]?.trim() ?? "" };
}

/**
 * Clears what an earlier life has left: a server still running on this cluster is shut down (its supervisor is
 * gone), and a `postmaster.pid` whose number now belongs to another program, which would keep PostgreSQL from
 * starting, is removed. All else (a dead number) PostgreSQL clears by itself.
 */
export async function clearLeftover(cluster: string, clock: Clock): Promise<void> {
  const file = await readPostmasterFile(cluster);
  if (file === undefined || !(file.pid > 0) || !isAlive(file.pid)) return;
  if (!(await isServerOf(cluster, file.pid))) {
    await rm(join(cluster, "postmaster.pid"), { force: true });
    return;
  }
  sendSignal(file.pid, "SIGINT");
  const deadlineMs = clock.monotonic() + fastStopMaxMs;
  // Not "while it is alive": a zombie that nobody reaps counts as alive for ever.
  while (await isServerOf(cluster, file.pid)) {
    if (clock.monotonic() > deadlineMs) sendSignal(file.pid, "SIGQUIT");
    await delay(clock, pollDelayMs);
  }
}

/** A server's working directory is its cluster; where that cannot be asked, its command line names it. */
async function isServerOf(cluster: string, pid: number): Promise<boolean> {
  if (process.platform === "linux") {
    const directory = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
    return directory === cluster;
  }
  const { output } = await runToEnd({
    program: "ps",
    args: ["-o", "command=", "-p", String(pid)],
    input: "",
  });
  return output.includes("postgres") && output.includes(cluster);
}
