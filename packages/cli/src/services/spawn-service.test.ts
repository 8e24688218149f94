import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { spawnService } from "./spawn-service.ts";

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "millrace-spawn-"));
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(directory, { recursive: true, force: true });
});

test("a program is found by our own PATH, and sees nothing else of our environment", async () => {
  const program = join(directory, "server-of-this-test");
  await writeFile(program, '#!/bin/sh\necho "secret: $SECRET, greeting: $GREETING"\n');
  await chmod(program, 0o755);
  vi.stubEnv("PATH", [directory, process.env.PATH].join(delimiter));
  vi.stubEnv("SECRET", "s3cret");
  const lines: string[] = [];
  const service = await spawnService({
    program: "server-of-this-test",
    args: [],
    environment: { GREETING: "hello" },
    onLine: (line) => lines.push(line),
    onOurDeath: { signal: "KILL" },
  });
  expect(await service.exited).toEqual({ code: 0, signal: null });
  await expect.poll(() => lines).toEqual(["secret: , greeting: hello"]);
});

test("a program that is not there is refused", async () => {
  const command = {
    program: "no-such-server",
    args: [],
    onLine: () => {},
    onOurDeath: { signal: "KILL" },
  } as const;
  await expect(spawnService(command)).rejects.toThrow("ENOENT");
});
