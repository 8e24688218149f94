import { existsSync } from "node:fs";
import { join } from "node:path";
import { setUpEnvironment } from "./environment.mjs";
import { checkout } from "./paths.mjs";
import { findPnpm } from "./pnpm.mjs";
import { step } from "./progress.mjs";
import { runOrFail } from "./run.mjs";
import { digestOf, readStamp, writeStamp } from "./stamp.mjs";

const stamp = "dependencies";

/** @returns {string} */
function wantedDependencies() {
  const facts = [process.platform, process.arch];
  return digestOf(checkout, ["pnpm-lock.yaml", "pnpm-workspace.yaml"], facts);
}

/** @returns {boolean} whether `node_modules` is as the lock file wants it */
function dependenciesAreInstalled() {
  return (
    existsSync(join(checkout, "node_modules", ".modules.yaml")) && readStamp(stamp) === wantedDependencies()
  );
}

/** Installs what the lock file names, if that has changed since the last time. */
export async function installDependencies() {
  if (dependenciesAreInstalled()) return;
  const pnpm = await findPnpm();
  await step("installing dependencies", () =>
    runOrFail({
      name: "installing dependencies",
      program: pnpm,
      args: ["install", "--frozen-lockfile", "--config.confirmModulesPurge=false"],
      cwd: checkout,
      env: setUpEnvironment(),
    }),
  );
  writeStamp(stamp, wantedDependencies());
}
