import { createRoute, z } from "@hono/zod-openapi";
import { readDetailRows } from "../queries/said.ts";
import { detailsSchema, presentDetails } from "../resources/details.ts";
import { attemptNumber, invocationParams } from "../resources/names.ts";
import { problemResponses } from "../web/problem.ts";
import type { Api, ApiParts } from "./api.ts";
import { attemptOr404 } from "./attempt.ts";

const details = createRoute({
  method: "get",
  path: "/projects/{project}/invocations/{invocationId}/details",
  operationId: "getDetails",
  summary: "Options, workspace status, metadata, configurations, and what belongs to no target",
  description: "Lists end after 1,000 entries; the raw events have all.",
  request: { params: invocationParams, query: z.object({ attempt: attemptNumber }) },
  responses: {
    200: {
      description: "The details",
      content: { "application/json": { schema: detailsSchema } },
    },
    ...problemResponses(400, 404, 503),
  },
});

export function addDetailRoutes(api: Api, parts: ApiParts): void {
  api.openapi(details, async (context) => {
    const viewer = context.get("viewer");
    const name = { ...context.req.valid("param"), attempt: context.req.valid("query").attempt };
    const found = await attemptOr404(parts, viewer, name);
    if (found instanceof Response) return found;
    const rows = await readDetailRows(parts.orm, viewer, found.invocation.attemptId);
    return context.json(presentDetails(rows), 200);
  });
}
