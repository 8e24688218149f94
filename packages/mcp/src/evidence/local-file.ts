import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** Directories that evidence may be read from: the output base and the workspace, as real paths. */
export type AllowedRoots = readonly string[];

export type LocalFile =
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "remote" }
  | { readonly kind: "outside" }
  | { readonly kind: "missing" };

/**
 * Where a URI of the build leads. Links are followed first, so that none leads out of the allowed roots. Without roots nothing
 * of the build is on this machine, and nothing is looked for.
 */
export function resolveUri(uri: string, roots: AllowedRoots): LocalFile {
  if (!uri.startsWith("file://") || roots.length === 0) return { kind: "remote" };
  let real: string;
  try {
    real = realpathSync(fileURLToPath(uri));
  } catch {
    return { kind: "missing" };
  }
  return roots.some((root) => isBelow(real, root)) ? { kind: "path", path: real } : { kind: "outside" };
}

export function isBelow(file: string, root: string): boolean {
  const relative = path.relative(root, file);
  return relative !== "" && !relative.startsWith("..") && !path.isAbsolute(relative);
}

/** The roots of a build that ran in `execRoot` for `workspace`. */
export function allowedRootsOf(build: { execRoot: string; workspace: string }): AllowedRoots {
  const outputBase = build.execRoot === "" ? [] : [path.dirname(path.dirname(build.execRoot))];
  return [...outputBase, build.workspace].flatMap((directory) => {
    try {
      return [realpathSync(directory)];
    } catch {
      return []; // Gone already: nothing below it can be read either.
    }
  });
}

/** Size in bytes of a regular file, undefined for anything else. */
export function regularFileSize(file: string): number | undefined {
  return withRegularFile(file, (_fd, size) => size);
}

/** The first and the last `halfBytes` of a regular file, with a line that says what is left out. */
export function readEnds(file: string, halfBytes: number): string | undefined {
  return withRegularFile(file, (fd, size) => {
    if (size <= halfBytes * 2) return readAt(fd, 0, size);
    const left = size - halfBytes * 2;
    const head = readAt(fd, 0, halfBytes);
    return `${head}\n… ${left} bytes left out …\n${readAt(fd, size - halfBytes, halfBytes)}`;
  });
}

function withRegularFile<T>(file: string, use: (fd: number, size: number) => T): T | undefined {
  let fd: number;
  try {
    // Without blocking: a FIFO put in place of a log must not hang us.
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch {
    return undefined;
  }
  try {
    const found = fstatSync(fd);
    return found.isFile() ? use(fd, found.size) : undefined;
  } finally {
    closeSync(fd);
  }
}

function readAt(fd: number, position: number, length: number): string {
  const bytes = Buffer.alloc(length);
  const read = readSync(fd, bytes, 0, length, position);
  return bytes.toString("utf8", 0, read);
}
