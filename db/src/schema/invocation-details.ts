import { boolean, integer, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { bytea, int8 } from "./column-types.ts";

/** What the page of one build shows and no list does. Lists and texts are cut where nobody reads on; raw events have all. */
export const invocationDetails = pgTable("invocation_details", {
  attemptId: int8("attempt_id").primaryKey(),
  startupOptions: text("startup_options").array(),
  explicitStartupOptions: text("explicit_startup_options").array(),
  /** The effective options: from the command line and every rc file. */
  options: text("options").array(),
  explicitOptions: text("explicit_options").array(),
  toolTag: text("tool_tag"),
  workspaceStatus: jsonb("workspace_status").$type<Readonly<Record<string, string>>>(),
  buildMetadata: jsonb("build_metadata").$type<Readonly<Record<string, string>>>(),
  localExecRoot: text("local_exec_root"),
  serverPid: int8("server_pid"),
  /** Targets that the patterns of the command stand for. */
  patternTargets: integer("pattern_targets"),
  /** Labels of tests by the test suite among the patterns. */
  testSuites: jsonb("test_suites").$type<Readonly<Record<string, readonly string[]>>>(),
  /** `build_event_stream.ConvenienceSymlinksIdentified` */
  convenienceSymlinks: bytea("convenience_symlinks"),
  /** `build_event_stream.ExecRequestConstructed` */
  execRequest: bytea("exec_request"),
  /** `build_event_stream.BuildToolLogs` */
  toolLogs: bytea("tool_logs"),
  /** Of BuildFinished: field number of the category in `failure_details.FailureDetail`, number of the code in it. */
  failureCategory: integer("failure_category"),
  failureCode: integer("failure_code"),
  wasSuspended: boolean("was_suspended"),
});
