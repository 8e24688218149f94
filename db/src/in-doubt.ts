import { errorCode, MillraceError } from "@millrace/base/errors";

const code = "in-doubt";

/** COMMIT was sent and not answered: the transaction may or may not have happened. */
export function commitInDoubt(cause?: unknown): MillraceError {
  const message = "COMMIT was sent and not answered: the transaction is in doubt";
  return new MillraceError({ remedy: "retry", code, message, cause });
}

/** True when a transaction may or may not have been committed. */
export function isInDoubt(error: unknown): boolean {
  return errorCode(error) === code;
}
