import { integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { int8 } from "./column-types.ts";

/** Where the log of a running test can be read, as it was said last. */
export const testProgress = pgTable(
  "test_progress",
  {
    attemptId: int8("attempt_id").notNull(),
    label: text("label").notNull(),
    configuration: text("configuration").notNull(),
    run: integer("run").notNull(),
    shard: integer("shard").notNull(),
    attempt: integer("attempt").notNull(),
    opaqueCount: integer("opaque_count").notNull(),
    uri: text("uri").notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.attemptId, table.label, table.configuration, table.run, table.shard, table.attempt],
    }),
  ],
);
