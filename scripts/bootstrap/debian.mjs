import { existsSync, lstatSync, readdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { findOnPath, toolsDir } from "./paths.mjs";
import { run, tellingLine } from "./run.mjs";

/** Where unpacked Debian packages lie: each set of packages is a little root file system of its own. */
const debianDir = join(toolsDir, "debian");

/** @returns {boolean} whether this is a Debian or Ubuntu, or a descendant */
export function hasDebianPackages() {
  return findOnPath("apt-get") !== undefined && findOnPath("dpkg-deb") !== undefined;
}

/**
 * Downloads Debian packages and unpacks them under `.millrace/tools/debian/<name>`, which needs no root and
 * changes nothing of the system. A directory that is there already is complete (it was renamed into place).
 * @param {{ name: string, packages: readonly string[], withDependencies?: boolean }} wanted
 *   `withDependencies`: also all that they depend on and that is not installed on this system
 * @returns {Promise<{ kind: "unpacked", root: string } | { kind: "failed", why: string }>}
 */
export async function unpackDebianPackages(wanted) {
  const root = join(debianDir, wanted.name);
  if (existsSync(root)) return { kind: "unpacked", root };
  if (!hasDebianPackages()) return { kind: "failed", why: "this system has no Debian packages" };
  await mkdir(debianDir, { recursive: true });
  const work = await mkdtemp(join(debianDir, `.${wanted.name}-`));
  try {
    return await unpackInto({ root, work, wanted });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function unpackInto({ root, work, wanted }) {
  const fetched = await downloadWithAnyList(work, wanted);
  if (fetched !== undefined) return { kind: "failed", why: fetched };
  const unpacked = join(work, "root");
  await mkdir(unpacked);
  for (const file of await readdir(work)) {
    if (!file.endsWith(".deb")) continue;
    const { code, output } = await run("dpkg-deb", ["-x", join(work, file), unpacked]);
    if (code !== 0) return { kind: "failed", why: tellingLine(output) };
  }
  relinkInside(unpacked, unpacked);
  await rename(unpacked, root);
  return { kind: "unpacked", root };
}

/** Tries the system's package lists first, then fresh ones of our own. Answers why it failed, if it did. */
async function downloadWithAnyList(work, wanted) {
  const bySystem = await download(work, wanted, []);
  if (bySystem === undefined) return undefined;
  const own = await ownLists();
  return download(work, wanted, own);
}

async function download(work, wanted, options) {
  const common = ["-o", "APT::Sandbox::User=root", "-o", "Debug::NoLocking=1", ...options];
  let names = wanted.packages;
  if (wanted.withDependencies) {
    const args = [...common, "-s", "install", "--no-install-recommends", ...names];
    const { code, output } = await run("apt-get", args);
    if (code !== 0) return tellingLine(output);
    const missing = [...output.matchAll(/^Inst (\S+) /gm)].map((match) => match[1]);
    names = missing.length > 0 ? missing : names;
  }
  const { code, output } = await run("apt-get", [...common, "download", ...names], { cwd: work });
  return code === 0 ? undefined : tellingLine(output);
}

/** Package lists in the checkout. A source that cannot be reached does not spoil the others. */
async function ownLists() {
  const lists = join(toolsDir, "apt");
  await mkdir(join(lists, "lists", "partial"), { recursive: true });
  await mkdir(join(lists, "archives", "partial"), { recursive: true });
  const options = [`Dir::State::Lists=${join(lists, "lists")}`, `Dir::Cache=${lists}`];
  const flags = options.flatMap((option) => ["-o", option]);
  await run("apt-get", ["-o", "APT::Sandbox::User=root", ...flags, "update"], { timeoutMs: 180_000 });
  return flags;
}

/** Packages link to absolute paths of the system; what lies inside the unpacked root is linked relatively. */
function relinkInside(root, directory) {
  for (const entry of readdirSync(directory)) {
    const path = join(directory, entry);
    const status = lstatSync(path);
    if (status.isDirectory()) relinkInside(root, path);
    if (!status.isSymbolicLink()) continue;
    const target = readlinkSync(path);
    if (!target.startsWith("/") || !existsEvenAsLink(join(root, target))) continue;
    rmSync(path);
    symlinkSync(relative(dirname(path), join(root, target)), path);
  }
}

function existsEvenAsLink(path) {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
