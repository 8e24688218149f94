import { z } from "@hono/zod-openapi";
import type { CommitRow } from "../queries/greenness.ts";
import { timeSchema, timeText } from "./names.ts";

export const greennessSchema = z.object({
  queue: z.string(),
  uri: z.string(),
  greenness: z.enum(["green", "not_green"]).openapi({
    description: "`green` only when a build of this commit said so. Everything else is `not_green`.",
  }),
  reason: z
    .string()
    .nullable()
    .openapi({
      description:
        "Why it is not green: `broken` by its own build; `unknown_queue`, `not_announced`, `waiting`, `in_progress`, " +
        "`being_recorded`, `superseded`, `cancelled`; or why its build gave no verdict, such as `timed_out`.",
    }),
  requestId: z.string().nullable(),
  state: z.string().nullable(),
  buildUrl: z.string().nullable(),
  recordedAt: timeSchema,
  lastGreenUri: z.string().nullable().openapi({ description: "The newest green commit of the queue" }),
});

/** A deployment can wait for this answer: there is one for every commit. */
export function presentGreenness(
  which: { queue: string; uri: string },
  row: CommitRow | undefined,
): z.infer<typeof greennessSchema> {
  const isGreen = row?.degree === 0;
  return {
    ...which,
    greenness: isGreen ? "green" : "not_green",
    reason: isGreen ? null : reasonOf(row),
    requestId: row?.requestId ?? null,
    state: row?.state ?? null,
    buildUrl: row?.buildUrl || null,
    recordedAt: timeText(row?.recordedAt ?? null),
    lastGreenUri: row?.lastGreenUri || null,
  };
}

function reasonOf(row: CommitRow | undefined): string {
  if (row === undefined) return "unknown_queue";
  if (row.degree !== null) return "broken";
  switch (row.state) {
    case null:
      return "not_announced";
    case "accepted":
      return "waiting";
    case "processing":
      return "in_progress";
    case "superseded":
    case "cancelled":
      return row.reason ?? row.state;
    default:
      return row.reason ?? "being_recorded";
  }
}
