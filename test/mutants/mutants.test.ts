import { spawn } from "node:child_process";
import path from "node:path";
import { expect, test } from "vitest";
import { mutants } from "./mutants.ts";

const root = path.resolve(import.meta.dirname, "../..");

/** Runs one test file with a mutant applied; true when it fails because a test failed. */
function isKilled(mutant: (typeof mutants)[number]): Promise<{ killed: boolean; output: string }> {
  const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
  const args = [vitest, "run", "--project", mutant.killedBy.project, mutant.killedBy.file, "--bail", "1"];
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...process.env, MILLRACE_MUTANT: mutant.name, MILLRACE_SEEDS: "60", NO_COLOR: "1" },
    });
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    child.stderr.on("data", (chunk) => {
      output += chunk;
    });
    child.on("close", (code) => {
      // A run that found no test, or could not apply the mutant, proves nothing.
      const failedTest =
        /\d+ failed/.test(output) && !/No test files found|mutant .*: its text occurs/.test(output);
      resolve({ killed: code !== 0 && failedTest, output });
    });
  });
}

test.each(mutants.map((mutant) => [mutant.name, mutant] as const))("%s is noticed", async (_, mutant) => {
  const { killed, output } = await isKilled(mutant);
  expect(killed, output.slice(-3_000)).toBe(true);
});
