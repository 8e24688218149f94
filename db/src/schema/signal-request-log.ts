import { index, pgTable, text } from "drizzle-orm/pg-core";
import { instant, int8 } from "./column-types.ts";

/** Every change of a request's state: who, from, to, why. Only appended to, by the transaction of the change. */
export const signalRequestLog = pgTable(
  "signal_request_log",
  {
    id: int8("id").primaryKey().generatedAlwaysAsIdentity(),
    requestId: text("request_id").notNull(),
    queue: text("queue").notNull(),
    at: instant("at").notNull(),
    /** The stage, such as `process` or `buildsignal_dlq`. */
    who: text("who").notNull(),
    fromState: text("from_state").notNull(),
    toState: text("to_state").notNull(),
    reason: text("reason"),
    buildId: text("build_id"),
  },
  (table) => [
    index("signal_request_log_by_request").on(table.requestId, table.id),
    index("signal_request_log_by_time").on(table.at),
  ],
);
