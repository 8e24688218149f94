import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";

const runFile = promisify(execFile);
const checkout = join(import.meta.dirname, "..");
/** Each run of vitest within vitest takes seconds. */
const timeoutMs = 120_000;
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "millrace-reporter-"));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

/** The last lines of a vitest run over these files. */
async function closingLines(files: Readonly<Record<string, string>>): Promise<string[]> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  await writeFile(join(directory, "vitest.config.mjs"), "export default { test: { globals: true } };\n");
  const reporter = join(checkout, "scripts", "closing-line-reporter.mjs");
  const vitest = join(checkout, "node_modules", "vitest", "vitest.mjs");
  const args = [vitest, "run", "--root", directory, "--reporter=default", `--reporter=${reporter}`];
  // Nothing of the vitest that runs this test; small systems name the runtime's libraries.
  const env = { PATH: "/usr/bin:/bin", HOME: directory, LD_LIBRARY_PATH: process.env.LD_LIBRARY_PATH };
  const { stdout } = await runFile(process.execPath, args, { cwd: directory, env }).catch((error) => error);
  return String(stdout).trimEnd().split("\n").slice(-2);
}

test("tests of all files are summed, and what was skipped is named", { timeout: timeoutMs }, async () => {
  const lines = await closingLines({
    "one.test.js": "test('a', () => {}); test('b', () => {});",
    "two.test.js": "test('c', () => {}); test.skip('needs a tool', () => {});",
  });
  expect(lines).toEqual(["skipped: two.test.js > needs a tool", "3 passed, 0 failed, 1 skipped"]);
});

test("a failing test, a broken file and an error outside tests each count", {
  timeout: timeoutMs,
}, async () => {
  const lines = await closingLines({
    "fails.test.js": "test('a', () => { throw new Error('no'); }); test('b', () => {});",
    "broken.test.js": "this is no JavaScript",
    "stray.test.js": "test('c', async () => { void Promise.reject(new Error('stray')); });",
  });
  expect(lines.at(-1)).toBe("2 passed, 3 failed");
});
