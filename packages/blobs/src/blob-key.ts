import { MillraceError } from "@millrace/base/errors";

/** Longest key in characters; S3 allows 1,024 bytes and a file system path 4,096. */
export const keyLengthMax = 900;

const segmentLengthMax = 200;
const segmentPattern = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

/**
 * Why `key` cannot be a key, or undefined. Keys are `/`-separated words of letters, digits, `.`, `_` and `-` that do not begin
 * with a dot: nothing in a key can leave the store's directory, and every driver can hold every key.
 */
export function keyProblem(key: string): string | undefined {
  if (key.length === 0) return "it is empty";
  if (key.length > keyLengthMax) return `it is longer than ${keyLengthMax} characters`;
  for (const segment of key.split("/")) {
    if (segment === "") return "it has an empty part";
    if (segment.length > segmentLengthMax) return `it has a part of more than ${segmentLengthMax} characters`;
    if (!segmentPattern.test(segment)) return `its part ${JSON.stringify(segment)} is not allowed`;
  }
  return undefined;
}

/** The key's parts. Fails with `blob-bad-key`. */
export function keySegments(key: string): string[] {
  const problem = keyProblem(key);
  if (problem !== undefined) {
    throw new MillraceError({
      remedy: "reject",
      code: "blob-bad-key",
      message: `the blob key ${JSON.stringify(key.slice(0, 100))} is not valid: ${problem}`,
    });
  }
  return key.split("/");
}

/**
 * Where the bytes of a batch lie that is too large for a message: written before the batch is sent, owned by the
 * row that its commit writes.
 *
 * @param of.prefix the project's key prefix
 * @param of.attempt names the attempt or, before it is known, the connection's owner
 * @param of.sequence first sequence number of the batch
 * @param of.digest lower-case hex SHA-256 of the bytes
 */
export function stagedKey(of: {
  prefix: string;
  attempt: string | number;
  sequence: number;
  digest: string;
}): string {
  return `${of.prefix}/staged/${of.attempt}/${of.sequence}-${of.digest}`;
}

/**
 * Where events `first` … `last` of an attempt lie for good, with the log of that time.
 *
 * @param of.prefix the project's key prefix
 * @param of.digest lower-case hex SHA-256 of the object: the same key always means the same bytes
 */
export function archiveKey(of: {
  prefix: string;
  attempt: number;
  first: number;
  last: number;
  digest: string;
}): string {
  return `${of.prefix}/archives/${of.attempt}/${of.first}-${of.last}-${of.digest}`;
}
