import { z } from "@hono/zod-openapi";
import { invocationStatuses } from "@millrace/db/schema/invocations";
import type { AttemptRow } from "../queries/attempts.ts";
import { type Counts, noCounts } from "../queries/counts.ts";
import { timeSchema, timeText } from "./names.ts";

const text = z.string().nullable();
const count = z.number().int();

const targetCounts = z.object({
  total: count,
  done: count.openapi({ description: "All but those that are only configured" }),
  failed: count,
});
const testCounts = z.object({ total: count, passed: count, failed: count, flaky: count });

/** One attempt as lists and live events show it. */
export const buildSchema = z
  .object({
    project: z.string(),
    invocationId: z.string(),
    attempt: count,
    buildId: z.string(),
    status: z.enum(invocationStatuses),
    command: text,
    patterns: z.array(z.string()),
    patternCount: count.openapi({ description: "`patterns` holds the first ones only" }),
    user: text,
    host: text,
    branch: text,
    commit: text,
    role: text,
    createdAt: z.iso.datetime().openapi({ description: "When the first event was stored" }),
    startedAt: timeSchema,
    finishedAt: timeSchema,
    durationMs: count.nullable().openapi({ description: "Null while it runs" }),
    exitCode: count.nullable(),
    exitCodeName: text,
    targets: targetCounts,
    tests: testCounts,
    lastSequence: count.openapi({ description: "Number of the last stored event" }),
    logBytes: count,
    logLines: count,
  })
  .openapi("Build");

export type Build = z.infer<typeof buildSchema>;

/** One attempt with everything its row holds. */
export const invocationSchema = buildSchema
  .extend({
    toolVersion: text,
    failureMessage: text,
    abortReason: text,
    workspaceDirectory: text,
    workingDirectory: text,
    repositoryUrl: text,
    cpu: text,
    platform: text,
    actionsExecuted: count.nullable(),
    wallTimeMs: count.nullable(),
    cpuTimeMs: count.nullable(),
    endedAt: timeSchema,
    complete: z.boolean().openapi({ description: "The end of the stream is stored: nothing will be added" }),
    partial: z.boolean().openapi({ description: "Some events are stored raw only: their rows did not fit" }),
    undecodedEvents: count,
    attempts: z
      .array(
        z.object({
          attempt: count,
          status: z.enum(invocationStatuses),
          createdAt: z.iso.datetime(),
          endedAt: timeSchema,
        }),
      )
      .openapi({ description: "All attempts, latest first" }),
  })
  .openapi("Invocation");

export type Invocation = z.infer<typeof invocationSchema>;

/** Patterns in a list; a command line may hold thousands. */
const patternsShown = 20;
const patternsOfOne = 1_000;

export function presentBuilds(rows: readonly AttemptRow[], counts: ReadonlyMap<number, Counts>): Build[] {
  return rows.map((row) => ({
    ...common(row, counts.get(row.invocation.attemptId) ?? noCounts),
    patterns: (row.invocation.patterns ?? []).slice(0, patternsShown),
  }));
}

/** `attempts` are all of the invocation, latest first; `row` is the one that is shown. */
export function presentInvocation(
  row: AttemptRow,
  counts: Counts,
  attempts: readonly AttemptRow[],
): Invocation {
  const { invocation } = row;
  return {
    ...common(row, counts),
    patterns: (invocation.patterns ?? []).slice(0, patternsOfOne),
    toolVersion: invocation.toolVersion,
    failureMessage: invocation.failureMessage,
    abortReason: invocation.abortReason,
    workspaceDirectory: invocation.workspaceDirectory,
    workingDirectory: invocation.workingDirectory,
    repositoryUrl: invocation.repositoryUrl,
    cpu: invocation.cpu,
    platform: invocation.platform,
    actionsExecuted: invocation.actionsExecuted,
    wallTimeMs: invocation.wallTimeMs,
    cpuTimeMs: invocation.cpuTimeMs,
    endedAt: timeText(invocation.endedAt),
    complete: row.complete,
    partial: invocation.partial,
    undecodedEvents: invocation.undecodedEvents,
    attempts: attempts.map((each) => ({
      attempt: each.invocation.attempt,
      status: each.invocation.status,
      createdAt: each.invocation.createdAt.toISOString(),
      endedAt: timeText(each.invocation.endedAt),
    })),
  };
}

function common(row: AttemptRow, counts: Counts): Omit<Build, "patterns"> {
  const { invocation } = row;
  return {
    project: invocation.projectId,
    invocationId: invocation.invocationId,
    attempt: invocation.attempt,
    buildId: invocation.buildId,
    status: invocation.status,
    command: invocation.command,
    patternCount: invocation.patterns?.length ?? 0,
    user: invocation.user,
    host: invocation.host,
    branch: invocation.branch,
    commit: invocation.commit,
    role: invocation.role,
    createdAt: invocation.createdAt.toISOString(),
    startedAt: timeText(invocation.startedAt),
    finishedAt: timeText(invocation.finishedAt),
    durationMs: invocation.durationMs,
    exitCode: invocation.exitCode,
    exitCodeName: invocation.exitCodeName,
    targets: counts.targets,
    tests: counts.tests,
    lastSequence: row.lastSequence,
    logBytes: row.logBytes,
    logLines: row.logLines,
  };
}
