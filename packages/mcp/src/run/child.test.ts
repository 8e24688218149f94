import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "@millrace/base/clock";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Child } from "./child.ts";

let home = "";

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), "millrace-child-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Starts a shell script; its outputs are `out` and `err` below `home`. */
function start(script: string): Child {
  const executable = path.join(home, "program");
  writeFileSync(executable, `#!/bin/sh\n${script}\n`);
  chmodSync(executable, 0o755);
  return new Child(
    {
      ...{ executable, args: [], cwd: home, environment: { PATH: "/usr/bin:/bin" } },
      ...{ stdoutPath: path.join(home, "out"), stderrPath: path.join(home, "err") },
    },
    systemClock,
  );
}

const output = (): string => readFileSync(path.join(home, "out"), "utf8");

test("what a pipe's last stage still writes is there when the child has ended", async () => {
  const child = start("{ sleep 0.3; echo last words; } & echo first words");
  expect(await child.ended).toEqual({ kind: "exit", code: 0 });
  expect(output()).toBe("first words\nlast words\n");
});

test.skipIf(process.platform !== "linux")("so it is when that stage left the process group", async () => {
  const child = start("setsid sh -c 'sleep 0.3; echo last words' & echo first words");
  expect(await child.ended).toEqual({ kind: "exit", code: 0 });
  expect(output()).toBe("first words\nlast words\n");
});

test.skipIf(process.platform !== "linux")("who only reads the output is not waited for", async () => {
  const script = `setsid sh -c 'exec 3<out >/dev/null 2>&1; touch open; while [ ! -e done ]; do sleep 0.05; done; touch gone' &
while [ ! -e open ]; do sleep 0.02; done`;
  const child = start(script);
  expect(await child.ended).toEqual({ kind: "exit", code: 0 });
  expect(existsSync(path.join(home, "gone"))).toBe(false);
  writeFileSync(path.join(home, "done"), "");
  await expect.poll(() => existsSync(path.join(home, "gone")), { timeout: 30_000 }).toBe(true);
});

test("what ignores its end is killed with the group", async () => {
  const child = start("trap '' INT TERM; echo $$ > pid; while :; do sleep 0.05; done");
  await expect
    .poll(() => existsSync(path.join(home, "pid")) && readFileSync(path.join(home, "pid"), "utf8") !== "")
    .toBe(true);
  await child.stop({ interruptMs: 50, terminateMs: 50 });
  expect(await child.ended).toEqual({ kind: "signal", signal: "SIGKILL" });
});

test("a program that cannot be started is told as such by its exit code", async () => {
  const child = new Child(
    {
      ...{ executable: path.join(home, "absent"), args: [], cwd: home, environment: {} },
      ...{ stdoutPath: path.join(home, "out"), stderrPath: path.join(home, "err") },
    },
    systemClock,
  );
  expect(await child.ended).toEqual({ kind: "exit", code: 127 });
});
