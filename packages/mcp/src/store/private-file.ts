import {
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { errorCode, MillraceError } from "@millrace/base/errors";

export const directoryMode = 0o700;
export const fileMode = 0o600;

/** Creates `directory` and its parents, readable by us alone. */
export function makePrivateDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: directoryMode });
}

/** Claims a directory of ours: a link or another user's directory is refused, a lax mode is tightened. */
export function claimPrivateDirectory(directory: string): void {
  try {
    makePrivateDirectory(directory);
    const found = lstatSync(directory);
    if (!found.isDirectory()) throw refuse(directory, "is not a directory (a link, perhaps)");
    const me = process.getuid?.();
    if (me !== undefined && found.uid !== me) throw refuse(directory, `belongs to user ${found.uid}`);
    if ((found.mode & 0o077) !== 0) chmodSync(directory, directoryMode);
  } catch (error) {
    if (error instanceof MillraceError) throw error;
    throw storeError(`cannot use ${directory}`, error);
  }
}

function refuse(directory: string, why: string): MillraceError {
  return new MillraceError({
    remedy: "reject",
    code: "mcp-cache-unsafe",
    message: `${directory} ${why}: choose another --cache-root or remove it`,
  });
}

/** Failures of the cache's disk as one class; `ENOSPC` and `EROFS` are told apart for the user. */
export function storeError(what: string, cause: unknown): MillraceError {
  const code = errorCode(cause);
  const advice =
    code === "ENOSPC" || code === "EDQUOT"
      ? ": the disk is full; free some space, then `millrace mcp gc` brings the store below its limit"
      : code === "EROFS" || code === "EACCES" || code === "EPERM"
        ? ": no permission to write there; choose another --cache-root"
        : "";
  return new MillraceError({
    remedy: "retry",
    code: `mcp-store-${code === "" ? "failed" : code.toLowerCase()}`,
    message: `${what}${advice}`,
    cause,
  });
}

/**
 * Replaces `directory/name` by `bytes` in one step: a unique temporary file, then rename. Nothing is synced: the
 * contract is that an interrupted process leaves the old or the new content, not that a power cut does.
 */
export function replaceFile(at: { directory: string; name: string; temporary: string }, bytes: string): void {
  const temporary = `${at.directory}/${at.name}.${at.temporary}.tmp`;
  const fd = openSync(temporary, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, fileMode);
  try {
    writeSync(fd, bytes);
    closeSync(fd);
    renameSync(temporary, `${at.directory}/${at.name}`);
  } catch (error) {
    try {
      unlinkSync(temporary);
    } catch {
      // Never created or already renamed; the first error is the one to tell.
    }
    throw error;
  }
}
