import { errorCode, isNetworkCode, MillraceError, type Remedy } from "@millrace/base/errors";

interface Meaning {
  readonly remedy: Remedy;
  readonly code: string;
  readonly sentence: string;
}

const forbidden: Meaning = {
  remedy: "retry",
  code: "blob-not-permitted",
  sentence: "the S3 service refuses these keys: check access key, secret key and the bucket's policy",
};
const noBucket: Meaning = {
  remedy: "retry",
  code: "blob-no-bucket",
  sentence: "the bucket does not exist: create it, or name another one",
};
const full: Meaning = {
  remedy: "retry",
  code: "blob-disk-full",
  sentence: "the S3 service has no room left: free space, enlarge it or raise the quota",
};
const unreachable: Meaning = {
  remedy: "retry",
  code: "blob-unreachable",
  sentence: "the S3 service cannot be reached",
};

const meanings: Readonly<Record<string, Meaning>> = {
  AccessDenied: forbidden,
  InvalidAccessKeyId: forbidden,
  SignatureDoesNotMatch: forbidden,
  NoSuchBucket: noBucket,
  QuotaExceeded: full,
  InsufficientStorage: full,
  XMinioStorageFull: full,
};

const unknown: Meaning = { remedy: "retry", code: "blob-s3-failure", sentence: "the S3 service failed" };

/** The one place where an error of the S3 client becomes a failure of the blob store. */
export function s3Failure(doing: string, cause: unknown): MillraceError {
  if (cause instanceof MillraceError) return cause;
  const code = errorCode(cause);
  const meaning = isNetworkCode(code) ? unreachable : (meanings[code] ?? unknown);
  return new MillraceError({
    remedy: meaning.remedy,
    code: meaning.code,
    message: `${doing}: ${meaning.sentence}`,
    cause,
  });
}

/** True when the error says that there is no such object. HEAD has no body, so its error has another name. */
export function isNoObject(error: unknown): boolean {
  const code = errorCode(error);
  return code === "NoSuchKey" || code === "NotFound";
}
