import { createRoute, z } from "@hono/zod-openapi";
import { readMetricsRow } from "../queries/said.ts";
import { metricsSchema, presentMetrics } from "../resources/metrics.ts";
import { attemptNumber, invocationParams } from "../resources/names.ts";
import { problemResponses } from "../web/problem.ts";
import type { Api, ApiParts } from "./api.ts";
import { attemptOr404 } from "./attempt.ts";

const metrics = createRoute({
  method: "get",
  path: "/projects/{project}/invocations/{invocationId}/metrics",
  operationId: "getMetrics",
  summary: "What Bazel counted and timed; null until it says so at the end of the build",
  request: { params: invocationParams, query: z.object({ attempt: attemptNumber }) },
  responses: {
    200: {
      description: "The metrics",
      content: { "application/json": { schema: z.object({ metrics: metricsSchema.nullable() }) } },
    },
    ...problemResponses(400, 404, 503),
  },
});

export function addMetricsRoutes(api: Api, parts: ApiParts): void {
  api.openapi(metrics, async (context) => {
    const viewer = context.get("viewer");
    const name = { ...context.req.valid("param"), attempt: context.req.valid("query").attempt };
    const found = await attemptOr404(parts, viewer, name);
    if (found instanceof Response) return found;
    const row = await readMetricsRow(parts.orm, viewer, found.invocation.attemptId);
    return context.json({ metrics: row === undefined ? null : presentMetrics(row) }, 200);
  });
}
