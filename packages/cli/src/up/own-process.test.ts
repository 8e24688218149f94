import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@millrace/base/clock";
import { processEnvironment } from "@millrace/base/config";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeExit, startOwnProcess } from "./own-process.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "millrace-own-"));
});
afterAll(() => rm(directory, { recursive: true }));

async function start(source: string, givenUp = new AbortController().signal) {
  const file = join(directory, "program.mjs");
  await writeFile(file, source);
  const lines: string[] = [];
  const program = {
    name: "writer-1",
    file,
    environment: { ...processEnvironment(), MILLRACE_WORD: "sesame" },
    stopMaxMs: 100,
    onLine: (line: string) => lines.push(line),
    gistOf: (line: string) => line.toUpperCase(),
  };
  return { lines, started: startOwnProcess(program, { clock: systemClock, givenUp }) };
}

const stays = "setInterval(() => {}, 1000);";
const ready = 'process.send({ kind: "ready", port: 7 });';

test("it is ready when it says so, with what it says, and its lines are heard", async () => {
  const { lines, started } = await start(`console.log(process.env.MILLRACE_WORD); ${ready} ${stays}`);
  const running = await started;
  expect(running.ready).toEqual({ kind: "ready", port: 7 });
  await expect.poll(() => lines).toEqual(["sesame"]);
  await running.stop();
  expect(describeExit(await running.exited)).toBe("killed by SIGTERM");
});

test("one that does not end in time is killed", async () => {
  const { started } = await start(`process.on("SIGTERM", () => {}); ${ready} ${stays}`);
  const running = await started;
  await running.stop();
  expect(await running.exited).toEqual({ code: null, signal: "SIGKILL" });
});

test("a start that fails tells its last words, or else how it ended", async () => {
  const talkative = await start('console.error("no database"); process.exit(3);');
  await expect(talkative.started).rejects.toThrow("writer-1 does not start: NO DATABASE");
  const silent = await start("process.exit(3);");
  await expect(silent.started).rejects.toThrow("writer-1 does not start: exit code 3");
});

test("a start that is given up on is broken off", async () => {
  const abort = new AbortController();
  const { started } = await start(stays, abort.signal);
  abort.abort();
  await expect(started).rejects.toThrow("killed by SIGKILL");
});

test("it ends by itself when its supervisor is gone", async () => {
  const child = `process.on("disconnect", () => process.exit(0)); ${ready} ${stays}`;
  await writeFile(join(directory, "child.mjs"), child);
  const supervisor = `
    import { fork } from "node:child_process";
    const child = fork(${JSON.stringify(join(directory, "child.mjs"))}, [], { detached: true });
    child.on("message", () => process.send({ kind: "ready", child: child.pid }));`;
  const { started } = await start(supervisor);
  const running = await started;
  const pid = Number(running.ready.child);
  running.kill();
  await running.exited;
  const isGone = (): boolean => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  };
  await expect.poll(isGone, { timeout: 20_000 }).toBe(true);
});
