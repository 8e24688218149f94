import { z } from "@hono/zod-openapi";
import { invocationIdBytesMax, projectPattern } from "@millrace/proto/tokens";
import { storableText } from "../cursor.ts";

/** A project's slug in a path. */
export const projectName = z
  .string()
  .regex(projectPattern, "a project is named by lower-case letters, digits and hyphens")
  .openapi({ param: { name: "project", in: "path" }, example: "default" });

/** An invocation's id in a path: a UUID with Bazel, any text with other tools. */
export const invocationName = storableText
  .refine((id) => id.length > 0 && Buffer.byteLength(id) <= invocationIdBytesMax, {
    message: `an invocation id has 1 to ${invocationIdBytesMax} bytes`,
  })
  .openapi({
    param: { name: "invocationId", in: "path" },
    example: "8a1f6e0c-6c5f-4d6a-9a1b-2f7f5a1f0e11",
  });

const postgresIntegerMax = 2_147_483_647;

/** Which attempt; the latest when left out. */
export const attemptNumber = z.coerce
  .number()
  .int()
  .min(1)
  .max(postgresIntegerMax)
  .optional()
  .openapi({ param: { name: "attempt", in: "query" }, type: "integer" });

export const invocationParams = z.object({ project: projectName, invocationId: invocationName });

/** A query parameter that may be repeated or hold commas; an array in any case. */
export function listOf<T extends string>(item: z.ZodType<T, string>, description: string) {
  return repeated(item, { description, split: (text) => text.split(",") });
}

/** A query parameter that may be repeated, of values that may hold commas themselves. */
export function listOfWhole<T extends string>(item: z.ZodType<T, string>, description: string) {
  return repeated(item, { description, split: (text) => [text] });
}

const listMax = 100;

function repeated<T extends string>(
  item: z.ZodType<T, string>,
  how: { description: string; split: (text: string) => string[] },
) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((value) => (Array.isArray(value) ? value : how.split(value)).filter((word) => word !== ""))
    .pipe(z.array(item).max(listMax))
    .transform((values) => (values.length === 0 ? undefined : values))
    .optional()
    .openapi({ type: "array", items: { type: "string" }, description: how.description });
}

/** How many rows a page holds. */
export function pageSize(fallback: number, max: number) {
  return z.coerce
    .number()
    .int()
    .min(1)
    .max(max)
    .default(fallback)
    .openapi({ type: "integer", minimum: 1, maximum: max, default: fallback });
}

/** A time as the API writes it. */
export function timeText(time: Date | null): string | null {
  return time === null ? null : time.toISOString();
}

export const timeSchema = z.iso.datetime().nullable().openapi({ format: "date-time", type: "string" });
