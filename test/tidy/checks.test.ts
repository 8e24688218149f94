import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
const run = promisify(execFile);

/** The checks that people run by hand as `pnpm run <name>`; here they fail the suite. */
const checks: readonly (readonly [claim: string, program: string, args: readonly string[]])[] = [
  ["types fit", "node_modules/typescript/bin/tsc", ["--noEmit"]],
  [
    "format and lint are clean",
    "node_modules/@biomejs/biome/bin/biome",
    ["check", "--diagnostic-level=warn"],
  ],
  ["generated protocol code is current", "scripts/generate-proto.mjs", ["--check"]],
  ["no code is dead", "node_modules/knip/bin/knip.js", []],
];

test.each(checks)("%s", async (_, program, args) => {
  const script = path.join(root, program);
  const failure = await run(process.execPath, [script, ...args], { cwd: root, maxBuffer: 16 << 20 }).then(
    () => "",
    (error: { stdout?: string; stderr?: string; message: string }) =>
      `${error.stdout ?? ""}${error.stderr ?? ""}` || error.message,
  );
  expect(failure.slice(-4_000)).toBe("");
});
