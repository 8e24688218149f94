import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { arch, cpus, loadavg, release, totalmem } from "node:os";
import path from "node:path";

/** What a figure was measured on. */
export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
  readonly cpu: string;
  readonly kernel: string;
  /** Of the minute before the run: far above 0 means that somebody else was busy. */
  readonly loadAverage: number;
}

export function machine(): Machine {
  const [first] = cpus();
  return {
    cores: cpus().length,
    memoryBytes: totalmem(),
    cpu: `${first?.model.trim() ?? "unknown"} (${arch()})`,
    kernel: release(),
    loadAverage: Number((loadavg()[0] ?? 0).toFixed(2)),
  };
}

/** The commit that is checked out; with "+" when what is measured has changes beside it. */
export function commit(): string {
  const git = (...args: string[]): string =>
    spawnSync("git", args, { cwd: root, encoding: "utf8" }).stdout?.trim() ?? "";
  const changes = git("status", "--porcelain", "--", "packages", "db", "pnpm-lock.yaml");
  return `${git("rev-parse", "--short=12", "HEAD") || "unknown"}${changes === "" ? "" : "+"}`;
}

/** What a NATS server says of itself in the first line that it sends. */
export async function natsVersion(natsUrl: string): Promise<string> {
  const { hostname, port } = new URL(natsUrl);
  const socket = connect(Number(port), hostname);
  try {
    const [line] = await once(socket, "data");
    return /"version":"([^"]+)"/.exec(String(line))?.[1] ?? "unknown";
  } finally {
    socket.destroy();
  }
}

const root = path.resolve(import.meta.dirname, "../..");
