import { z } from "@hono/zod-openapi";
import { parseQuery, queryLengthMax } from "@millrace/base/query/parse-query";
import type { Query, QueryFault } from "@millrace/base/query/query";
import { buildFields } from "@millrace/proto/build-fields";
import { problemSchema } from "../web/problem.ts";

/** The parameter by which lists of builds are queried; read it with `readQuery`. */
export const queryParameter = z
  .string()
  // A longer one is a fault with a position, up to what any URL may hold.
  .max(4 * queryLengthMax)
  .optional()
  .openapi({
    description:
      "Which builds, such as `status:failed user:ann duration:>5m started:<2d`. `GET /query-fields` has the fields; " +
      "a query that is not understood is a 400 whose `errors` have its place, as UTF-16 offsets.",
    example: "status:failed started:<2d",
  });

/** The query of the parameter, undefined when it was left out; a `Response` tells what is wrong with it. */
export function readQuery(text: string | undefined): Query | undefined | Response {
  if (text === undefined) return undefined;
  const parsed = parseQuery(text, buildFields);
  return parsed.kind === "query" ? parsed.query : invalidQuery(parsed.fault);
}

/** What a 400 says of a query. */
export const invalidQuerySchema = problemSchema
  .extend({
    errors: z.array(
      z.object({
        path: z.string(),
        message: z.string(),
        from: z.number().int().openapi({ description: "Offset of the first wrong character" }),
        to: z.number().int().openapi({ description: "Offset behind the last one" }),
      }),
    ),
  })
  .openapi("InvalidQuery");

function invalidQuery(fault: QueryFault): Response {
  const code = "invalid-query";
  const body: z.infer<typeof invalidQuerySchema> = {
    type: `urn:millrace:problem:${code}`,
    title: "The request is not valid",
    status: 400,
    code,
    detail: `At character ${fault.from + 1}: ${fault.message}.`,
    errors: [{ path: "query.query", ...fault }],
  };
  return new Response(JSON.stringify(body), {
    status: 400,
    headers: { "content-type": "application/problem+json", "cache-control": "no-store" },
  });
}

/** The 400 of a route that takes a query. */
export const queryProblem = {
  400: {
    description: "The request is not valid; with the code `invalid-query` it is the query",
    content: { "application/problem+json": { schema: z.union([invalidQuerySchema, problemSchema]) } },
  },
} as const;
