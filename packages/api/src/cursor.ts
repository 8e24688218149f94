import { z } from "@hono/zod-openapi";

/**
 * An opaque place in a list: the sort values of the last row that was sent, as URL-safe base64 of JSON.
 * What is in it is checked on the way back like any other input.
 */
export function encodeCursor(values: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(values)).toString("base64url");
}

/** Undefined when `text` is not a cursor of this shape. */
export function decodeCursor<T>(text: string, shape: z.ZodType<T>): T | undefined {
  if (text.length > cursorLengthMax) return undefined;
  try {
    const parsed = shape.safeParse(JSON.parse(Buffer.from(text, "base64url").toString("utf8")));
    return parsed.success ? parsed.data : undefined;
  } catch {
    // Not JSON: not a cursor.
    return undefined;
  }
}

/** Labels go into cursors, and labels may be long. */
export const cursorLengthMax = 16_384;

/** The parameter by which a list goes on. */
export const cursorParameter = z
  .string()
  .max(cursorLengthMax)
  .optional()
  .openapi({ description: "`nextCursor` of the page before" });

/** Text that PostgreSQL can hold: it refuses the character U+0000. */
export const storableText = z
  .string()
  .max(8_192)
  .refine((text) => !text.includes("\u0000"), { message: "must not contain U+0000" });
