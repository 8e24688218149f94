import { errorCode, MillraceError, type Remedy } from "@millrace/base/errors";

interface Meaning {
  readonly remedy: Remedy;
  readonly code: string;
  readonly sentence: string;
}

const full: Meaning = {
  remedy: "retry",
  code: "blob-disk-full",
  sentence: "the disk of the blob store is full: free space or enlarge it",
};
const forbidden: Meaning = {
  remedy: "retry",
  code: "blob-not-permitted",
  sentence: "the blob store's directory does not let this process read and write: check its owner and mode",
};
const exhausted: Meaning = {
  remedy: "retry",
  code: "blob-no-descriptors",
  sentence: "no file descriptor is left for the blob store: raise the limit of open files",
};
const conflict: Meaning = {
  remedy: "reject",
  code: "blob-key-conflict",
  sentence: "one blob's key is the directory of another's",
};

const meanings: Readonly<Record<string, Meaning>> = {
  ENOSPC: full,
  EDQUOT: full,
  EACCES: forbidden,
  EPERM: forbidden,
  EROFS: forbidden,
  EMFILE: exhausted,
  ENFILE: exhausted,
  ENOTDIR: conflict,
  EISDIR: conflict,
};

const unknown: Meaning = {
  remedy: "retry",
  code: "blob-disk-failure",
  sentence: "the blob store's disk failed",
};

/** The one place where a file system error becomes a failure of the blob store. */
export function diskFailure(doing: string, cause: unknown): MillraceError {
  if (cause instanceof MillraceError) return cause;
  const meaning = meanings[errorCode(cause)] ?? unknown;
  return new MillraceError({
    remedy: meaning.remedy,
    code: meaning.code,
    message: `${doing}: ${meaning.sentence}`,
    cause,
  });
}

/** True when the error says that there is no such file or directory. */
export function isMissing(error: unknown): boolean {
  return errorCode(error) === "ENOENT";
}
