import { boolean, integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { instant, int8 } from "./column-types.ts";

/** Actions that failed, and the few that a page names though they went well; `action_counts` has all. */
export const actions = pgTable(
  "actions",
  {
    attemptId: int8("attempt_id").notNull(),
    /** Sequence number of its event. */
    sequence: int8("sequence").notNull(),
    success: boolean("success").notNull(),
    label: text("label"),
    configuration: text("configuration"),
    mnemonic: text("mnemonic"),
    primaryOutput: text("primary_output"),
    exitCode: integer("exit_code"),
    failureMessage: text("failure_message"),
    /** Field number of the category in `failure_details.FailureDetail`, and the number of the code in it. */
    failureCategory: integer("failure_category"),
    failureCode: integer("failure_code"),
    startedAt: instant("started_at"),
    endedAt: instant("ended_at"),
    stdoutUri: text("stdout_uri"),
    stderrUri: text("stderr_uri"),
    /** Its beginning, when it is very long. */
    commandLine: text("command_line").array(),
  },
  (table) => [primaryKey({ columns: [table.attemptId, table.sequence] })],
);
