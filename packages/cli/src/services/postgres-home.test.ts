import { chmod, lstat, mkdir, mkdtemp, readlink, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sharedStateDir } from "./postgres-binaries.ts";
import { postgresIdentity, preparePostgresHome, prepareSocketDir } from "./postgres-home.ts";

let parent: string;
const isRoot = process.getuid?.() === 0;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "millrace-home-"));
});

afterEach(async () => {
  await rm(parent, { recursive: true, force: true });
});

test("with our own identity the data directory itself is the home", async () => {
  const dataDir = join(parent, "data");
  expect(await preparePostgresHome(dataDir, undefined)).toBe(dataDir);
  expect((await stat(dataDir)).isDirectory()).toBe(true);
});

test.runIf(isRoot)("root's data directory lets the other user through when its parents do", async () => {
  await chmod(parent, 0o755);
  const dataDir = join(parent, "data");
  await mkdir(dataDir, { mode: 0o700 });
  expect(await preparePostgresHome(dataDir, postgresIdentity())).toBe(dataDir);
  expect((await stat(dataDir)).mode & 0o077).toBe(0o011);
});

test.runIf(isRoot)("in a closed home the cluster goes elsewhere, and a link tells where", async () => {
  const dataDir = join(parent, "data");
  const home = await preparePostgresHome(dataDir, postgresIdentity());
  try {
    expect(dirname(home)).toBe(sharedStateDir);
    expect(await readlink(join(dataDir, "postgres"))).toBe(join(home, "postgres"));
    expect(await preparePostgresHome(dataDir, postgresIdentity())).toBe(home);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
});

test.runIf(isRoot)("a cluster that is there but out of reach is never passed over", async () => {
  const dataDir = join(parent, "data");
  await mkdir(join(dataDir, "postgres"), { recursive: true });
  await expect(preparePostgresHome(dataDir, postgresIdentity())).rejects.toThrow("cannot reach");
});

test("the socket directory keeps its name, is private, and is not taken from somebody else", async () => {
  const first = await prepareSocketDir(parent, undefined);
  const second = await prepareSocketDir(parent, undefined);
  expect(second).toBe(first);
  expect((await lstat(first)).mode & 0o777).toBe(0o700);
  await rm(first, { recursive: true });
  await symlink("/tmp", first);
  const third = await prepareSocketDir(parent, undefined);
  expect(third).not.toBe(first);
  for (const directory of [first, third]) await rm(directory, { recursive: true });
});
