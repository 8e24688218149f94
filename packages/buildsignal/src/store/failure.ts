import { errorCode, isNetworkCode, MillraceError } from "@millrace/base/errors";
import { databaseFailure, sqlState } from "@millrace/db/errors";

/** Codes of postgres.js for a connection that was not there. */
const connectionCodes = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
]);

/**
 * Runs database work; a failure of the database comes out as a `MillraceError` with its remedy, everything else as it
 * was thrown.
 */
export async function asFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isOfDatabase(error) ? databaseFailure(error) : error;
  }
}

function isOfDatabase(error: unknown): boolean {
  if (error instanceof MillraceError) return false;
  return sqlState(error) !== "" || hasConnectionCode(error);
}

/** Drizzle wraps what the driver throws. */
function hasConnectionCode(error: unknown): boolean {
  const code = errorCode(error);
  if (isNetworkCode(code) || connectionCodes.has(code)) return true;
  return error instanceof Error && error.cause !== undefined && hasConnectionCode(error.cause);
}
