import { existsSync } from "node:fs";
import { join } from "node:path";
import { setUpEnvironment } from "./environment.mjs";
import { npmCli } from "./npm.mjs";
import { checkout, findOnPath, toolsDir } from "./paths.mjs";
import { step } from "./progress.mjs";
import { run, runOrFail } from "./run.mjs";

const version = "12.21.0";
const major = `${version.split(".")[0]}.`;

/**
 * A pnpm of the major version that wrote the lock file: the one on the PATH, else our own, installed by npm.
 * @returns {Promise<string>} path of the program
 */
export async function findPnpm() {
  const own = join(toolsDir, "node_modules", ".bin", "pnpm");
  for (const candidate of [findOnPath("pnpm"), own]) {
    if (candidate !== undefined && existsSync(candidate) && (await isUsable(candidate))) return candidate;
  }
  await step(`getting pnpm ${version}`, () =>
    runOrFail({
      name: "getting pnpm",
      program: process.execPath,
      // pnpm's scripts need not run: its native program is a package of its own.
      args: [
        npmCli(),
        "install",
        "--prefix",
        toolsDir,
        "--no-audit",
        "--no-fund",
        "--no-save",
        `pnpm@${version}`,
      ],
      env: setUpEnvironment(),
    }),
  );
  return own;
}

async function isUsable(program) {
  const { code, output } = await run(program, ["--version"], { timeoutMs: 30_000, cwd: checkout });
  return code === 0 && output.trim().startsWith(major);
}
