import { z } from "@hono/zod-openapi";
import type { ActionCountRow, ActionRow } from "../queries/said.ts";
import { timeSchema, timeText } from "./names.ts";

const int = z.number().int();

/** An action that failed, or one that is worth a row although it went well, such as a coverage report. */
export const actionSchema = z
  .object({
    sequence: int.openapi({ description: "Of its event" }),
    success: z.boolean(),
    label: z.string().nullable(),
    configuration: z.string().nullable(),
    mnemonic: z.string().nullable().openapi({ example: "CppCompile" }),
    primaryOutput: z.string().nullable(),
    exitCode: int.nullable(),
    failureMessage: z.string().nullable(),
    startedAt: timeSchema,
    endedAt: timeSchema,
    stdoutUri: z.string().nullable(),
    stderrUri: z.string().nullable(),
    commandLine: z.array(z.string()),
  })
  .openapi("Action");

/** All actions that Bazel told of, by mnemonic. It tells of those that failed, unless it is asked for all. */
export const actionCountSchema = z
  .object({
    mnemonic: z.string(),
    succeeded: int,
    failed: int,
    durationMs: int.openapi({ description: "Sum of their wall times, where they have times" }),
  })
  .openapi("ActionCount");

export function presentAction(row: ActionRow): z.infer<typeof actionSchema> {
  const { attemptId: _, startedAt, endedAt, failureCategory, failureCode, commandLine, ...same } = row;
  return {
    ...same,
    startedAt: timeText(startedAt),
    endedAt: timeText(endedAt),
    commandLine: commandLine ?? [],
  };
}

export function presentActionCount(row: ActionCountRow): z.infer<typeof actionCountSchema> {
  const { attemptId: _, ...count } = row;
  return count;
}
