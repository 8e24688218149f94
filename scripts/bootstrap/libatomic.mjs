import { existsSync, readdirSync, symlinkSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { unpackDebianPackages } from "./debian.mjs";
import { toolsLibraryDir } from "./paths.mjs";
import { say, step } from "./progress.mjs";

/** What Node.js 25 and later want of a Linux system and a minimal Debian does not have. */
export const library = "libatomic.so.1";

/**
 * Fetches that library where it is missing. It must be there before dependencies are installed: their own
 * scripts already run on the pinned runtime.
 */
export async function ensureLibatomic() {
  if (process.platform !== "linux" || isPresent()) return;
  const why = await step(`getting ${library}, which the runtime needs`, obtain);
  if (why !== undefined) say(`${library} could not be had: ${why}`);
}

function isPresent() {
  if (existsSync(join(toolsLibraryDir, library))) return true;
  const directories = [
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    ...subdirectories("/usr/lib"),
  ];
  return directories.some((directory) => existsSync(join(directory, library)));
}

/** Debian keeps libraries in a directory per architecture. */
function subdirectories(directory) {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(directory, entry.name));
}

async function obtain() {
  const unpacked = await unpackDebianPackages({ name: "libatomic1", packages: ["libatomic1"] });
  if (unpacked.kind === "failed") return unpacked.why;
  await mkdir(toolsLibraryDir, { recursive: true });
  for (const directory of subdirectories(join(unpacked.root, "usr", "lib"))) {
    const file = join(directory, library);
    if (existsSync(file)) symlinkSync(relative(toolsLibraryDir, file), join(toolsLibraryDir, library));
  }
  return undefined;
}
