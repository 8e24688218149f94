import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { SetUpFailure } from "./failure.mjs";
import { findOnPath } from "./paths.mjs";

/**
 * npm's own JavaScript: that of the npm which started us, else the one on the PATH.
 * @returns {string} path of npm-cli.js
 */
export function npmCli() {
  const starter = process.env.npm_execpath;
  if (starter !== undefined && basename(starter) === "npm-cli.js") return realpathSync(starter);
  const found = findOnPath("npm");
  if (found === undefined) throw new SetUpFailure("npm was not found on the PATH; it comes with Node.js.");
  const real = realpathSync(found);
  return basename(real) === "npm-cli.js" ? real : join(dirname(real), "npm-cli.js");
}

/**
 * The node-gyp that npm brings along.
 * @returns {string} path of node-gyp.js
 */
export function nodeGyp() {
  return join(dirname(npmCli()), "..", "node_modules", "node-gyp", "bin", "node-gyp.js");
}
