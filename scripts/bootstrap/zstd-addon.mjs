import { existsSync, realpathSync, statSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { unpackDebianPackages } from "./debian.mjs";
import { setUpEnvironment } from "./environment.mjs";
import { nodeGyp } from "./npm.mjs";
import { checkout, findOnPath } from "./paths.mjs";
import { say, step } from "./progress.mjs";
import { run, tellingLine } from "./run.mjs";
import { findRuntime, runtimeHome } from "./runtime.mjs";
import { readStamp, writeStamp } from "./stamp.mjs";

const stamp = "zstd-addon";
const failureStamp = "zstd-addon-failure";
const retryAfterMs = 24 * 60 * 60_000;
const downloadTimeoutMs = 20_000;
const buildTimeoutMs = 180_000;

const roundTrip = `
  const zstd = require(process.argv[1]);
  const text = Buffer.from("millrace ".repeat(1000));
  zstd.compress(text, 1).then((packed) => zstd.decompress(packed)).then((again) => process.exit(again.equals(text) ? 0 : 1));
`;

/**
 * Makes the native addon of @mongodb-js/zstd load: its prebuilt binary where the release page can be reached,
 * else built against the system's libzstd. Without it Millrace compresses with node:zlib, into the same frames.
 */
export async function ensureZstdAddon() {
  const directory = addonDirectory();
  const fact = factAbout(directory);
  if (fact !== undefined && readStamp(stamp) === fact) return;
  if (await loads(directory)) return writeStamp(stamp, factAbout(directory));
  if (failedLately()) return saySubstitute(readStamp(failureStamp).split("\n")[1]);
  const why = await step("getting the zstd addon", () => obtain(directory));
  if (why === undefined) return writeStamp(stamp, factAbout(directory));
  writeStamp(failureStamp, `${Date.now()} ${circumstances()}\n${why}`);
  saySubstitute(why);
}

function saySubstitute(why) {
  say(`compressing with node:zlib, since the addon of @mongodb-js/zstd could not be had: ${why}`);
}

function addonDirectory() {
  return realpathSync(join(checkout, "packages", "base", "node_modules", "@mongodb-js", "zstd"));
}

/** Names the binary that was found to load, so that a new one is tried again. */
function factAbout(directory) {
  const binary = statSync(join(directory, "build", "Release", "zstd.node"), { throwIfNoEntry: false });
  return binary && `${directory} ${binary.size} ${binary.mtimeMs} ${process.platform}-${process.arch}`;
}

/** What a new attempt depends on; the network is covered by the time limit. */
function circumstances() {
  const programs = ["c++", "make", "python3", "apt-get"].map((name) => findOnPath(name) ?? "none");
  return [...programs, existsSync("/usr/include/zstd.h")].join(",");
}

function failedLately() {
  const [when, ...rest] = (readStamp(failureStamp) ?? "").split("\n")[0].split(" ");
  return rest.join(" ") === circumstances() && Date.now() - Number(when) < retryAfterMs;
}

async function loads(directory) {
  const { code } = await run(await findRuntime(), ["-e", roundTrip, directory], {
    env: setUpEnvironment(),
    timeoutMs: 30_000,
  });
  return code === 0;
}

/** Answers why it could not be had, or undefined when it loads. */
async function obtain(directory) {
  const prebuilt = join(directory, "..", "..", "prebuild-install", "bin.js");
  const options = { cwd: directory, env: setUpEnvironment(), timeoutMs: downloadTimeoutMs };
  await run(process.execPath, [prebuilt, "--runtime", "napi"], options);
  if (await loads(directory)) return undefined;
  const why = await build(directory);
  if (why !== undefined) return why;
  return (await loads(directory)) ? undefined : "it was built but does not load";
}

/** node-gyp's makefiles break on spaces in paths: the addon is built in a temporary directory. */
async function build(directory) {
  if (findOnPath("c++") === undefined) return "there is no C++ compiler";
  const zstd = await findLibrary();
  if (zstd.kind === "failed") return zstd.why;
  const work = await mkdtemp(join(tmpdir(), "millrace-zstd-"));
  try {
    const source = await layOut(work, directory, zstd);
    const env = { ...setUpEnvironment(), npm_config_nodedir: join(work, "node") };
    const options = { cwd: source, env, timeoutMs: buildTimeoutMs };
    const { code, output } = await run(process.execPath, [nodeGyp(), "rebuild"], options);
    if (code !== 0) return tellingLine(output);
    const release = join(directory, "build", "Release");
    await mkdir(release, { recursive: true });
    await cp(join(source, "build", "Release", "zstd.node"), join(release, "zstd.node"));
    return undefined;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/**
 * Headers of the system's own libzstd-dev, or unpacked from the Debian package. Debian's static library does
 * not link into an addon ("bad value": it is not position-independent), so the shared one is named instead.
 */
async function findLibrary() {
  if (existsSync("/usr/include/zstd.h")) return { kind: "found", headers: "/usr/include", link: "-lzstd" };
  const unpacked = await unpackDebianPackages({ name: "libzstd-dev", packages: ["libzstd-dev"] });
  if (unpacked.kind === "failed") return { kind: "failed", why: `no libzstd headers (${unpacked.why})` };
  return { kind: "found", headers: join(unpacked.root, "usr", "include"), link: "-l:libzstd.so.1" };
}

async function layOut(work, directory, zstd) {
  const source = join(work, "zstd");
  await mkdir(source);
  for (const part of ["addon", "binding.gyp", "package.json"]) {
    await cp(join(directory, part), join(source, part), { recursive: true });
  }
  const nodeAddonApi = realpathSync(join(directory, "..", "..", "node-addon-api"));
  await mkdir(join(source, "node_modules"));
  await cp(nodeAddonApi, join(source, "node_modules", "node-addon-api"), {
    recursive: true,
    dereference: true,
  });
  const library = join(source, "deps", "zstd");
  await mkdir(join(library, "lib"), { recursive: true });
  await mkdir(join(library, "out", "lib"), { recursive: true });
  for (const header of ["zstd.h", "zstd_errors.h", "zdict.h"]) {
    await cp(join(zstd.headers, header), join(library, "lib", header));
  }
  await writeFile(join(library, "out", "lib", "libzstd.a"), `INPUT(${zstd.link})\n`);
  const home = existsSync(join(runtimeHome(), "include"))
    ? runtimeHome()
    : dirname(dirname(process.execPath));
  await symlink(home, join(work, "node"));
  return source;
}
