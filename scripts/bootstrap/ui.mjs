import { existsSync } from "node:fs";
import { join } from "node:path";
import { programEnvironment, setUpEnvironment } from "./environment.mjs";
import { checkout } from "./paths.mjs";
import { findPnpm } from "./pnpm.mjs";
import { step } from "./progress.mjs";
import { runOrFail } from "./run.mjs";
import { findRuntime } from "./runtime.mjs";
import { digestOf, readStamp, writeStamp } from "./stamp.mjs";

const stamp = "ui";

/** What the built pages are made of. */
const sources = ["packages/ui", "packages/client/src", "packages/client/package.json", "pnpm-lock.yaml"];

/** Builds the dashboard when its sources have changed since the last time. */
export async function ensureUi() {
  const directory = join(checkout, "packages", "ui");
  if (!existsSync(join(directory, "index.html"))) return;
  const wanted = digestOf(checkout, sources);
  if (existsSync(join(directory, "dist", "index.html")) && readStamp(stamp) === wanted) return;
  const pnpm = await findPnpm();
  const { PATH } = programEnvironment(await findRuntime());
  await step("building the dashboard", () =>
    runOrFail({
      name: "building the dashboard",
      program: pnpm,
      args: ["--filter", "@millrace/ui", "build"],
      cwd: checkout,
      env: { ...setUpEnvironment(), PATH },
    }),
  );
  writeStamp(stamp, wanted);
}
