import { createRoute, z } from "@hono/zod-openapi";
import { storableText } from "../cursor.ts";
import { findCommit } from "../queries/greenness.ts";
import { greennessSchema, presentGreenness } from "../resources/greenness.ts";
import { problemResponses } from "../web/problem.ts";
import type { Api, ApiParts } from "./api.ts";

const greenness = createRoute({
  method: "get",
  path: "/queues/{queue}/greenness",
  operationId: "getGreenness",
  summary: "Whether a commit is green",
  description: "Answers for every commit and every queue; what is not known to be green is `not_green`.",
  request: {
    params: z.object({
      queue: storableText.openapi({ param: { name: "queue", in: "path" }, example: "main" }),
    }),
    query: z.object({ uri: storableText.openapi({ description: "The commit, as it was announced" }) }),
  },
  responses: {
    200: {
      description: "What is known about the commit",
      content: { "application/json": { schema: greennessSchema } },
    },
    ...problemResponses(400, 503),
  },
});

export function addGreennessRoutes(api: Api, parts: ApiParts): void {
  api.openapi(greenness, async (context) => {
    const which = { ...context.req.valid("param"), ...context.req.valid("query") };
    const row = await findCommit(parts.orm, context.get("viewer"), which);
    return context.json(presentGreenness(which, row), 200);
  });
}
