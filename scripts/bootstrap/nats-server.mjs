import { existsSync, lstatSync, rmSync, symlinkSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { unpackDebianPackages } from "./debian.mjs";
import { SetUpFailure } from "./failure.mjs";
import { findOnPath, toolsBinDir } from "./paths.mjs";
import { step } from "./progress.mjs";
import { run, tellingLine } from "./run.mjs";

const link = join(toolsBinDir, "nats-server");

/**
 * A `nats-server` that processes of ours find by name: the one on the PATH, else a link in our tools to the one
 * of the Debian package; on a Mac, Homebrew's.
 */
export async function ensureNatsServer() {
  if (existsSync(link) || findOnPath("nats-server") !== undefined) return;
  const why = await step("getting nats-server", obtain);
  if (why === undefined) return;
  throw new SetUpFailure(
    `nats-server is neither on the PATH nor could it be fetched (${why}): install NATS Server 2.9 or newer, ` +
      "or give --nats-url for one that runs already.",
  );
}

async function obtain() {
  const unpacked = await unpackDebianPackages({ name: "nats-server", packages: ["nats-server"] });
  if (unpacked.kind === "unpacked") {
    await linkTool(join(unpacked.root, "usr", "sbin", "nats-server"));
    return undefined;
  }
  if (findOnPath("brew") === undefined) return unpacked.why;
  const { code, output } = await run("brew", ["install", "nats-server"], { timeoutMs: 600_000 });
  return code === 0 && findOnPath("nats-server") !== undefined ? undefined : tellingLine(output);
}

async function linkTool(program) {
  await mkdir(toolsBinDir, { recursive: true });
  if (lstatSync(link, { throwIfNoEntry: false })) rmSync(link);
  symlinkSync(relative(toolsBinDir, program), link);
}
