import { MillraceError } from "@millrace/base/errors";
import type { Database } from "@millrace/db/connect";
import { classifyFailure, sqlState } from "@millrace/db/errors";

/** What a query needs of the database. */
export type Orm = Database["orm"];

/**
 * Runs a read. A failure of the database becomes a `MillraceError` whose message may be shown to anybody; the
 * statement and its cause stay in `cause`.
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
      cause: error,
    });
  }
}

/** SQLSTATE of a statement that ran into `statement_timeout`. */
const queryCancelled = "57014";
