import { boolean, jsonb, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { int8 } from "./column-types.ts";

/** A configuration that targets of an attempt were built in, as their rows name it. */
export const configurations = pgTable(
  "configurations",
  {
    attemptId: int8("attempt_id").notNull(),
    id: text("id").notNull(),
    mnemonic: text("mnemonic"),
    platform: text("platform"),
    cpu: text("cpu"),
    /** Of tools that the build uses; since Bazel 6. */
    isTool: boolean("is_tool").notNull(),
    makeVariables: jsonb("make_variables").$type<Readonly<Record<string, string>>>(),
  },
  (table) => [primaryKey({ columns: [table.attemptId, table.id] })],
);
