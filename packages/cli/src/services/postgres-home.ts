import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, chown, lstat, mkdir, mkdtemp, readdir, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MillraceError } from "@millrace/base/errors";
import { sharedStateDir } from "./postgres-binaries.ts";
import type { Identity } from "./spawn-service.ts";

/** `sun_path` holds 107 bytes; `/.s.PGSQL.65535` and the `.lock` behind it take 20. */
const socketDirBytesMax = 87;

/** PostgreSQL refuses to run as root: then it gets the uid that means "nobody" on every Unix. */
export function postgresIdentity(): Identity | undefined {
  return process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;
}

/**
 * The directory that holds the cluster and its password: `dataDir`, which other users are let through for this
 * when we are root. If they cannot reach it even so (a checkout in root's closed home), it is a directory below
 * `/var/lib/millrace` that belongs to this `dataDir`, and `dataDir/postgres` links there.
 */
export async function preparePostgresHome(dataDir: string, identity: Identity | undefined): Promise<string> {
  await mkdir(dataDir, { recursive: true });
  if (identity === undefined) return dataDir;
  await chmod(dataDir, (await stat(dataDir)).mode | 0o011);
  if (canEnter(dataDir, identity)) return dataDir;
  const elsewhere = join(sharedStateDir, digestOf(dataDir));
  await mkdir(elsewhere, { recursive: true, mode: 0o711 });
  await linkTo(join(elsewhere, "postgres"), join(dataDir, "postgres"), identity);
  return elsewhere;
}

/** A cluster that lies in place already is never passed over for an empty one elsewhere. */
async function linkTo(target: string, link: string, identity: Identity): Promise<void> {
  const present = await lstat(link).catch(() => undefined);
  if (present === undefined) return symlink(target, link);
  if (present.isSymbolicLink()) return;
  throw new MillraceError({
    remedy: "crash",
    code: "postgres-unreachable",
    message: `PostgreSQL runs as user ${identity.uid}, who cannot reach ${link}: open its parent directories.`,
  });
}

/**
 * A directory of mode 0700 for the Unix socket, emptied. Its name follows from the data directory, so that it
 * stays the same over restarts; a name that somebody else has taken is not used.
 */
export async function prepareSocketDir(dataDir: string, identity: Identity | undefined): Promise<string> {
  const parent = Buffer.byteLength(tmpdir()) + 24 > socketDirBytesMax ? "/tmp" : tmpdir();
  const usual = join(parent, `millrace-pg-${digestOf(dataDir)}`);
  const directory = (await isOurs(usual, identity)) ? usual : await mkdtemp(join(parent, "millrace-pg-"));
  await chmod(directory, 0o700);
  if (identity !== undefined) await chown(directory, identity.uid, identity.gid);
  for (const entry of await readdir(directory)) await rm(join(directory, entry), { force: true });
  return directory;
}

function digestOf(path: string): string {
  return createHash("sha256").update(path).digest("hex").slice(0, 12);
}

async function isOurs(directory: string, identity: Identity | undefined): Promise<boolean> {
  try {
    await mkdir(directory, { mode: 0o700 });
    return true;
  } catch {
    const status = await lstat(directory);
    const owner = identity?.uid ?? process.getuid?.();
    return status.isDirectory() && (status.uid === owner || status.uid === process.getuid?.());
  }
}

function canEnter(directory: string, identity: Identity): boolean {
  const probe = spawnSync("/bin/sh", ["-c", 'cd -- "$1"', "sh", directory], {
    ...identity,
    cwd: "/",
    stdio: "ignore",
  });
  return probe.status === 0;
}
