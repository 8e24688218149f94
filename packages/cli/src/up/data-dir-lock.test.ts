import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { holderOfDataDir, lockDataDir } from "./data-dir-lock.ts";
import { identifyProcess, type ProcessIdentity } from "./process-identity.ts";

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "millrace-lock-"));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const self = identifyProcess(process.pid) as ProcessIdentity;

async function writeLock(content: unknown): Promise<void> {
  await writeFile(join(dataDir, "up.lock"), typeof content === "string" ? content : JSON.stringify(content));
}

test("one holds it, a second learns who; after the release it is free", async () => {
  const first = lockDataDir(dataDir);
  expect(first.kind).toBe("held");
  expect(lockDataDir(dataDir)).toEqual({ kind: "taken", holder: self });
  expect(holderOfDataDir(dataDir)).toEqual(self);
  if (first.kind === "held") first.release();
  expect(holderOfDataDir(dataDir)).toBeUndefined();
  expect(await readdir(dataDir)).toEqual([]);
});

test("the lock of a process that is gone is taken over", async () => {
  const child = spawn("sleep", ["60"]);
  const identity = identifyProcess(child.pid ?? 0);
  await writeLock(identity);
  expect(lockDataDir(dataDir)).toEqual({ kind: "taken", holder: identity });
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(lockDataDir(dataDir).kind).toBe("held");
});

test("a process number that was given to another program holds nothing", async () => {
  await writeLock({ pid: process.pid, started: "some other boot/1" });
  expect(holderOfDataDir(dataDir)).toBeUndefined();
  expect(lockDataDir(dataDir).kind).toBe("held");
});

test.each(["", "garbage", '{"pid":-1,"started":""}'])("a lock file of %j is nobody's", async (content) => {
  await writeLock(content);
  expect(lockDataDir(dataDir).kind).toBe("held");
});

test("a release after somebody else took over leaves the other's lock alone", async () => {
  const first = lockDataDir(dataDir, { pid: process.pid, started: "an earlier life" });
  const second = lockDataDir(dataDir);
  expect(second.kind).toBe("held");
  if (first.kind === "held") first.release();
  expect(holderOfDataDir(dataDir)).toEqual(self);
});

test("a process that has ended and was not collected has ended", async () => {
  const parent = spawn("sh", ["-c", "sleep 0 & echo $!; exec sleep 60"]);
  const [output] = await once(parent.stdout, "data");
  const pid = Number(String(output));
  await expect.poll(() => identifyProcess(pid)).toBeUndefined();
  parent.kill("SIGKILL");
  await once(parent, "exit");
});
