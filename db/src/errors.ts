import { errorCode, errorText, isNetworkCode, MillraceError } from "@millrace/base/errors";

/**
 * What a failed statement asks for.
 *
 * - `data`: the same values fail again (SQLSTATE classes 21, 22, 23, 54): find the guilty ones.
 * - `schema`: the statement does not fit the database (class 42). Sometimes values choose the statement, so the
 *   guilty are looked for too; but what fails by itself waits for a migration and is never rejected.
 * - `retry`: the server, the network or another transaction was in the way; the values are innocent.
 */
export type FailureKind = "data" | "schema" | "retry";

/** The SQLSTATE of a database error; "" for everything else, network errors included. */
export function sqlState(error: unknown): string {
  const code = errorCode(error);
  return isSqlState(code) ? code : sqlStateOfCause(error);
}

/** Classifies a failure of the database by its code alone. */
export function classifyFailure(error: unknown): FailureKind {
  if (error instanceof MillraceError && error.cause === undefined) return "retry";
  const state = sqlState(error);
  if (lacksPartition(error)) return "retry";
  if (dataClasses.has(state.slice(0, 2))) return "data";
  return isSchemaState(state) ? "schema" : "retry";
}

/** No partition for today: a check violation that names no constraint. Housekeeping is behind, not the values. */
export function lacksPartition(error: unknown): boolean {
  return sqlState(error) === "23514" && constraintOf(error) === "";
}

/**
 * A failure of the database for callers: remedy `reject` when the same values fail again (kinds `data` and
 * `schema`), else `retry`; `code` is the SQLSTATE, or `database-away`. An error that has been classified already,
 * such as a COMMIT in doubt, passes unchanged.
 */
export function databaseFailure(error: unknown): MillraceError {
  if (error instanceof MillraceError) return error;
  const remedy = classifyFailure(error) === "retry" ? "retry" : "reject";
  const code = sqlState(error) || "database-away";
  return new MillraceError({ remedy, code, message: errorText(error), cause: error });
}

/** True for an SQLSTATE that says the statement does not fit the database, whatever its values. */
export function isSchemaState(state: string): boolean {
  return state.startsWith("42");
}

const dataClasses = new Set(["21", "22", "23", "54"]);

function isSqlState(code: string): boolean {
  // The network comes first: `EPIPE` has the shape of an SQLSTATE.
  return !isNetworkCode(code) && /^[0-9A-Z]{5}$/.test(code);
}

function sqlStateOfCause(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? sqlState(error.cause) : "";
}

function constraintOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  if ("constraint_name" in error && typeof error.constraint_name === "string") return error.constraint_name;
  return "cause" in error ? constraintOf(error.cause) : "";
}
