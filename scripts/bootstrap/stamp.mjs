import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { stateDir } from "./paths.mjs";

const stampsDir = join(stateDir, "stamps");

/**
 * What was written for this step when it last succeeded, or undefined.
 * @param {string} name
 * @returns {string | undefined}
 */
export function readStamp(name) {
  try {
    return readFileSync(join(stampsDir, name), "utf8");
  } catch {
    return undefined;
  }
}

/**
 * @param {string} name
 * @param {string} content
 */
export function writeStamp(name, content) {
  const file = join(stampsDir, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

/**
 * A digest of names and contents of files and of all files under directories; what does not exist counts as
 * absent. `node_modules` and `dist` are left out.
 * @param {string} root
 * @param {readonly string[]} paths relative to `root`
 * @param {readonly string[]} [facts] further text that belongs to the digest
 * @returns {string}
 */
export function digestOf(root, paths, facts = []) {
  const hash = createHash("sha256");
  for (const fact of facts) hash.update(`fact ${fact}\n`);
  for (const path of paths) for (const file of filesUnder(join(root, path))) addFile(hash, root, file);
  return hash.digest("hex");
}

function addFile(hash, root, file) {
  const content = readFileSync(file);
  hash.update(`${relative(root, file)} ${content.length}\n`);
  hash.update(content);
}

function filesUnder(path) {
  let entries;
  try {
    entries = readdirSync(path, { withFileTypes: true });
  } catch (error) {
    if (error.code === "ENOTDIR") return [path];
    if (error.code === "ENOENT") return [];
    throw error;
  }
  return entries
    .filter((entry) => entry.name !== "node_modules" && entry.name !== "dist")
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) =>
      entry.isDirectory() ? filesUnder(join(path, entry.name)) : [join(path, entry.name)],
    );
}
