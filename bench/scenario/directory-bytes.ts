import { readdirSync, statSync } from "node:fs";
import path from "node:path";

/** Sizes of all files below a directory; 0 when it is not there. Files that go meanwhile are passed over. */
export function directoryBytes(directory: string): number {
  const names = attempt(() => readdirSync(directory, { withFileTypes: true, recursive: true })) ?? [];
  return names
    .filter((entry) => entry.isFile())
    .reduce(
      (sum, entry) => sum + (attempt(() => statSync(path.join(entry.parentPath, entry.name)).size) ?? 0),
      0,
    );
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
