import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { checkout, isWritable, stateDir, toolsBinDir, toolsLibraryDir } from "./paths.mjs";

const cacheDir = join(stateDir, "cache");

/**
 * The environment for npm, pnpm and node-gyp. Where a cache of the person's own cannot be written (a home that
 * is read-only or somebody else's) it moves into the checkout.
 * @returns {NodeJS.ProcessEnv}
 */
export function setUpEnvironment() {
  const environment = withOurLibraries(process.env);
  // Development dependencies are needed to build and to test, whatever this process is run for.
  delete environment.NODE_ENV;
  const home = homedir();
  const places = [
    ["npm_config_cache", join(home, ".npm"), "npm"],
    ["XDG_CACHE_HOME", join(home, ".cache"), "xdg-cache"],
    ["XDG_DATA_HOME", join(home, ".local", "share"), "xdg-data"],
    ["XDG_STATE_HOME", join(home, ".local", "state"), "xdg-state"],
  ];
  for (const [name, usual, moved] of places) {
    if (!isWritable(environment[name] || usual)) environment[name] = join(cacheDir, moved);
  }
  return environment;
}

/**
 * The environment of the program that is started in the end: the pinned runtime first, then our tools.
 * @param {string} node path of the runtime
 * @returns {NodeJS.ProcessEnv}
 */
export function programEnvironment(node) {
  const first = [dirname(node), toolsBinDir, join(checkout, "node_modules", ".bin")];
  return { ...withOurLibraries(process.env), PATH: [...first, process.env.PATH ?? ""].join(delimiter) };
}

function withOurLibraries(environment) {
  if (!existsSync(toolsLibraryDir)) return { ...environment };
  const paths = [toolsLibraryDir, environment.LD_LIBRARY_PATH].filter(Boolean);
  return { ...environment, LD_LIBRARY_PATH: paths.join(delimiter) };
}
