import { z } from "@hono/zod-openapi";
import { targetStatuses } from "@millrace/db/schema/targets";
import { protocolName, testSize } from "@millrace/proto/bep/enums";
import type { TargetRow } from "../queries/targets.ts";
import { timeSchema, timeText } from "./names.ts";

export const targetSchema = z
  .object({
    label: z.string(),
    aspect: z.string().openapi({ description: "Empty for the target itself" }),
    configuration: z.string(),
    status: z.enum(targetStatuses),
    kind: z.string().nullable().openapi({ example: "cc_library rule" }),
    testSize: z.string().nullable().openapi({ example: "SMALL" }),
    tags: z.array(z.string()),
    failureMessage: z.string().nullable(),
    abortReason: z.string().nullable(),
    completedAt: timeSchema,
  })
  .openapi("Target");

export type Target = z.infer<typeof targetSchema>;

export function presentTarget(row: TargetRow): Target {
  return {
    label: row.label,
    aspect: row.aspect,
    configuration: row.configuration,
    status: targetStatuses[row.status] ?? "configured",
    kind: row.targetKind,
    testSize:
      row.testSize === null || row.testSize === testSize.unknown
        ? null
        : protocolName(testSize, row.testSize),
    tags: row.tags ?? [],
    failureMessage: row.failureMessage,
    abortReason: row.abortReason,
    completedAt: timeText(row.completedAt),
  };
}
