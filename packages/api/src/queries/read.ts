import { MillraceError } from "@millrace/base/errors";
import type { Database } from "@millrace/db/connect";
import { classifyFailure, sqlState } from "@millrace/db/errors";

/** What a query needs of the database. */
export type Orm = Database["orm"];

/**
 * Runs a read. A failure of the database becomes a `MillraceError` whose message may be shown to anybody; what the
 * driver said is its `cause`.
 */
export async function read<T>(what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const state = sqlState(error);
    throw new MillraceError({
      remedy: classifyFailure(error) === "data" ? "reject" : "retry",
      code: state === queryCancelled ? "database-too-slow" : "database-away",
      message: `${what} could not be read from the database`,
      cause: underlying(error),
    });
  }
}

/** Drizzle wraps what the driver says into an error whose message is the whole statement with its values. */
function underlying(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error;
}

/** SQLSTATE of a statement that ran into `statement_timeout`. */
const queryCancelled = "57014";
