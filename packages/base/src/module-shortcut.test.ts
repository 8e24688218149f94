import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";

const shortcut = pathToFileURL(resolve(import.meta.dirname, "module-shortcut.ts")).href;
const db = resolve(import.meta.dirname, "../../../db");

/** What a process of its own prints. */
function run(source: string, ...flags: string[]): string {
  const args = [...flags, "--input-type=module", "-e", source];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: db, encoding: "utf8" });
  return stdout + stderr;
}

test("drizzle-orm is the same with and without it", () => {
  const source =
    "import * as core from 'drizzle-orm/pg-core'; import { sql } from 'drizzle-orm';" +
    "import { drizzle } from 'drizzle-orm/postgres-js'; console.log(Object.keys(core).length, typeof drizzle, sql`1` instanceof (await import('drizzle-orm')).SQL);";
  const plain = run(source);
  expect(plain).toMatch(/^\d{2,} function true\n$/);
  expect(run(source, "--import", shortcut)).toBe(plain);
});

test("what a package requires is found by Node itself", () => {
  const source =
    "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url); console.log(typeof require('drizzle-orm').sql);";
  expect(run(source, "--import", shortcut)).toBe("function\n");
});
