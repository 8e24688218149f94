import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, expect, test } from "vitest";
import { spawnService } from "./spawn-service.ts";

const directories: string[] = [];

afterEach(async () => {
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true });
});

/** A process that starts `sleep` as a guarded service, prints its number and waits. */
const owner = `
  import { spawnService } from ${JSON.stringify(join(import.meta.dirname, "spawn-service.ts"))};
  const [directory] = process.argv.slice(1);
  const service = await spawnService({
    program: "sleep", args: ["600"], onLine: () => {},
    onOurDeath: { signal: "TERM", removeDirectories: [directory] },
  });
  console.log(service.pid);
  setInterval(() => {}, 1000);
`;

test("a service whose owner is killed ends, and its directories go with it", async () => {
  const directory = await mkdtemp(join(tmpdir(), "millrace-guard-"));
  directories.push(directory);
  const child = spawn(process.execPath, ["--input-type=module", "-e", owner, directory], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const pid = Number(line);
  expect(isRunning(pid)).toBe(true);
  child.kill("SIGKILL");
  await expect.poll(() => isRunning(pid), { timeout: 20_000 }).toBe(false);
  await expect.poll(() => existsSync(directory), { timeout: 20_000 }).toBe(false);
});

test("a service that ends by itself leaves its directories to its owner", async () => {
  const directory = await mkdtemp(join(tmpdir(), "millrace-guard-"));
  directories.push(directory);
  const lines: string[] = [];
  const service = await spawnService({
    program: "sh",
    args: ["-c", "echo one; echo two >&2; exit 3"],
    onLine: (line) => lines.push(line),
    onOurDeath: { signal: "TERM", removeDirectories: [directory] },
  });
  expect(await service.exited).toEqual({ code: 3, signal: null });
  await expect.poll(() => lines.toSorted()).toEqual(["one", "two"]);
  expect(existsSync(directory)).toBe(true);
});

test("a program that does not exist is refused", async () => {
  const started = spawnService({
    program: "/nonexistent/program",
    args: [],
    onLine: () => {},
    onOurDeath: { signal: "TERM" },
  });
  await expect(started).rejects.toMatchObject({ code: "ENOENT" });
});

/** A killed process that its new parent has not reaped yet is a zombie: gone for our purpose. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return process.platform !== "linux" || existsSync(`/proc/${pid}/exe`);
}
