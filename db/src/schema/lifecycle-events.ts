import { integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { instant, int8 } from "./column-types.ts";

/**
 * What PublishLifecycleEvent said, merged monotonically: arrival order and repeats do not matter. It never
 * overrides a status that comes from the build events themselves.
 */
export const lifecycleEvents = pgTable(
  "lifecycle_events",
  {
    projectId: text("project_id").notNull(),
    buildId: text("build_id").notNull(),
    /** Empty for what concerns the whole build. */
    invocationId: text("invocation_id").notNull(),
    /** `google.devtools.build.v1.StreamId.BuildComponent` */
    component: integer("component").notNull(),
    lastSequence: int8("last_sequence").notNull(),
    attemptNumber: int8("attempt_number").notNull(),
    startedAt: instant("started_at"),
    finishedAt: instant("finished_at"),
    /** `google.devtools.build.v1.BuildStatus.Result` of the finish. */
    result: integer("result"),
    updatedAt: instant("updated_at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.buildId, table.invocationId, table.component] })],
);
