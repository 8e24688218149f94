import { createRoute, z } from "@hono/zod-openapi";
import { readAttempts } from "../queries/attempts.ts";
import { projectsOfInvocation } from "../queries/builds.ts";
import { countsOf, noCounts } from "../queries/counts.ts";
import { invocationSchema, presentInvocation } from "../resources/build.ts";
import { attemptNumber, invocationName, invocationParams } from "../resources/names.ts";
import { maySee } from "../viewer.ts";
import { attemptTag, isKnown, notModified, revalidated } from "../web/etag.ts";
import { notFound, problemResponses } from "../web/problem.ts";
import type { Api, ApiParts } from "./api.ts";

const one = createRoute({
  method: "get",
  path: "/projects/{project}/invocations/{invocationId}",
  operationId: "getInvocation",
  summary: "One invocation with all its attempts",
  request: { params: invocationParams, query: z.object({ attempt: attemptNumber }) },
  responses: {
    200: {
      description: "The latest attempt, or the one that was asked for",
      content: { "application/json": { schema: invocationSchema } },
    },
    304: { description: "Not changed" },
    ...problemResponses(400, 404, 503),
  },
});

const where = createRoute({
  method: "get",
  path: "/invocations/{invocationId}",
  operationId: "findInvocation",
  summary: "The projects that hold an invocation of this id",
  description: "For links that know only the id, such as Bazel's `--bes_results_url`.",
  request: { params: z.object({ invocationId: invocationName }) },
  responses: {
    200: {
      description: "At least one project",
      content: { "application/json": { schema: z.object({ projects: z.array(z.string()) }) } },
    },
    ...problemResponses(400, 404, 503),
  },
});

export function addInvocationRoutes(api: Api, parts: ApiParts): void {
  api.openapi(one, async (context) => {
    const name = context.req.valid("param");
    const wanted = context.req.valid("query").attempt;
    const viewer = context.get("viewer");
    const attempts = maySee(viewer, name.project) ? await readAttempts(parts.orm, viewer, name) : [];
    const row = attempts.find((each) => wanted === undefined || each.invocation.attempt === wanted);
    if (row === undefined) return notFound("The invocation");
    const tag = attemptTag(row, { version: parts.server.version, attempts: attempts.length });
    if (isKnown(context.req.header("if-none-match"), tag)) return notModified(tag);
    const counts = await countsOf(parts.orm, viewer, [row]);
    context.header("etag", tag);
    context.header("cache-control", revalidated);
    const found = counts.get(row.invocation.attemptId) ?? noCounts;
    return context.json(presentInvocation(row, found, attempts), 200);
  });

  api.openapi(where, async (context) => {
    const { invocationId } = context.req.valid("param");
    const projects = await projectsOfInvocation(parts.orm, context.get("viewer"), invocationId);
    if (projects.length === 0) return notFound("The invocation");
    return context.json({ projects }, 200);
  });
}
