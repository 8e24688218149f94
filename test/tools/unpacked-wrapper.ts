import { readdirSync } from "node:fs";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Writes a script beside an unpacked program that names its libraries, sets `environment` and starts it with
 * `args` before the caller's own. Answers its path.
 */
export async function writeWrapper(wanted: {
  readonly root: string;
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}): Promise<string> {
  const environment = { ...wanted.environment, LD_LIBRARY_PATH: libraryDirs(wanted.root).join(":") };
  const exports = Object.entries(environment).map(([name, value]) => `export ${name}=${quoted(value)}`);
  const command = [wanted.program, ...wanted.args].map(quoted).join(" ");
  const wrapper = join(wanted.root, wanted.name);
  await writeFile(wrapper, ["#!/bin/sh", ...exports, `exec ${command} "$@"`, ""].join("\n"));
  await chmod(wrapper, 0o755);
  return wrapper;
}

/** Debian keeps libraries in `lib/<triplet>` and `usr/lib/<triplet>`, private ones in directories below. */
function libraryDirs(root: string): string[] {
  return ["lib", "usr/lib"].flatMap((parent) => {
    const directory = join(root, parent);
    const triplets = entriesOf(directory).filter((entry) => entry.includes("-linux-gnu"));
    return triplets.flatMap((triplet) => {
      const shared = join(directory, triplet);
      const below = entriesOf(shared).map((entry) => join(shared, entry));
      return [shared, ...below.filter((path) => entriesOf(path).some((entry) => entry.includes(".so")))];
    });
  });
}

function entriesOf(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
