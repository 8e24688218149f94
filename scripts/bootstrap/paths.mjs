import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of this checkout, without a slash at its end. */
export const checkout = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** All that the set-up makes and that git does not know. */
export const stateDir = join(checkout, ".millrace");

/** Programs that the set-up fetched. Those meant to be found by name are linked in `bin`. */
export const toolsDir = join(stateDir, "tools");

/** Put on the PATH of every process of ours, behind the runtime and before the user's own. */
export const toolsBinDir = join(toolsDir, "bin");

/** Shared libraries that this system lacks; absent where nothing is missing. */
export const toolsLibraryDir = join(toolsDir, "lib");

/**
 * The file that `name` would start, or undefined.
 * @param {string} name
 * @param {string} [searchPath]
 * @returns {string | undefined}
 */
export function findOnPath(name, searchPath = process.env.PATH ?? "") {
  for (const directory of searchPath.split(delimiter)) {
    if (directory === "") continue;
    const candidate = join(directory, name);
    if (isExecutable(candidate)) return candidate;
  }
  return undefined;
}

/**
 * @param {string} path
 * @returns {boolean}
 */
export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * Whether `path`, or for a path that does not exist yet its nearest existing parent, can be written.
 * @param {string} path
 * @returns {boolean}
 */
export function isWritable(path) {
  let nearest = path;
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  try {
    accessSync(nearest, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
